// Shows the OpenAPI document that the page names. The key that is typed in stays in this page.
"use strict";

const place = document.getElementById("api");
window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  docExpansion: "none", // a hundred operations at once keep a small machine busy for seconds
  defaultModelsExpandDepth: 0,
});

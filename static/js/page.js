// Small conveniences; every page works without them.
(function () {
  "use strict";

  // A button with data-copy copies the text of the element it names.
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy]");
    if (!button) return;
    var source = document.getElementById(button.dataset.copy);
    if (!source || !navigator.clipboard) return;
    var text = "value" in source && source.value !== undefined ? source.value : source.textContent;
    navigator.clipboard.writeText(text.trim()).then(function () {
      var before = button.textContent;
      button.textContent = "Copied";
      button.setAttribute("aria-live", "polite");
      setTimeout(function () { button.textContent = before; }, 2000);
    });
  });

  // A form with data-confirm asks once more before it is sent.
  document.addEventListener("submit", function (event) {
    var question = (event.submitter && event.submitter.dataset.confirm) || event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  // A select with data-submit sends its form when it changes.
  document.addEventListener("change", function (event) {
    if (event.target.matches("[data-submit]") && event.target.form) event.target.form.requestSubmit();
    if (event.target.matches("[data-check-all]")) {
      var boxes = document.querySelectorAll('input[type="checkbox"][name="' + event.target.dataset.checkAll + '"]');
      boxes.forEach(function (box) { box.checked = event.target.checked; });
    }
  });

  // Elements that make sense only with scripts are hidden until now.
  function reveal(root) {
    root.querySelectorAll("[data-script]").forEach(function (element) { element.hidden = false; });
  }
  document.addEventListener("DOMContentLoaded", function () { reveal(document); });
  if (document.readyState !== "loading") reveal(document);
  document.addEventListener("htmx:afterSwap", function (event) { reveal(event.target); });

  // htmx keeps a failed request to itself; a person has to hear of it.
  document.addEventListener("htmx:responseError", function (event) {
    if (event.detail.xhr.status === 403 || event.detail.xhr.status >= 500) window.location.reload();
  });
})();

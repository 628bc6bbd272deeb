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

  // A form with data-upload shows how much of its file is sent, then opens the page that the answer leads to.
  document.addEventListener("submit", function (event) {
    var form = event.target.closest("form[data-upload]");
    if (!form || event.defaultPrevented) return;
    event.preventDefault();
    var bar = form.querySelector("progress");
    var button = form.querySelector(".form-actions button");
    var request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", function (sent) {
      if (sent.lengthComputable) { bar.max = sent.total; bar.value = sent.loaded; }
    });
    request.addEventListener("load", function () {
      if (request.status < 400) { window.location.assign(request.responseURL); return; }
      var answer = new DOMParser().parseFromString(request.responseText, "text/html").getElementById("content");
      if (!answer) { window.location.reload(); return; }
      document.getElementById("content").replaceWith(document.adoptNode(answer));
      reveal(answer);
      answer.focus();
    });
    request.addEventListener("error", function () {
      button.disabled = false;
      bar.parentElement.firstElementChild.textContent = "The file could not be sent. Is the service reachable? Try again.";
      bar.hidden = true;
    });
    bar.parentElement.hidden = false;
    button.disabled = true;
    request.send(new FormData(form));
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

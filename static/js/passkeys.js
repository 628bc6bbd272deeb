// What a person reads when the browser cannot make or use a passkey; allauth itself only writes to the console.
(function () {
  "use strict";

  function words(name) {
    if (name === "SecurityError") {
      var local = /^(127\.|\[::1\])/.test(location.hostname);
      return "Passkeys need a name in the address bar, not a number." +
        (local ? " Open " + location.origin.replace(location.hostname, "localhost") + " and sign in there." : "");
    }
    if (name === "InvalidStateError") return "This device has a passkey for this account already.";
    if (name === "NotAllowedError") return "It was stopped, or took too long. Try again.";
    return "This browser or device cannot use a passkey here.";
  }

  document.addEventListener("allauth.error", function (event) {
    var note = document.getElementById("passkey-problem");
    if (!note) return;
    event.preventDefault();
    var problem = event.detail && event.detail.exception;
    note.textContent = words(problem && problem.name);
    note.hidden = false;
  });
})();

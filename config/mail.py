"""E-mail on a machine that has no mail server: printed in the terminal, apart from the log around it."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend as ConsoleBackend

BACKEND = "config.mail.TerminalBackend"
WIDTH = 78
INDENT = "  "
TITLE = "── E-mail, printed here because no mail server is set up "


class TerminalBackend(ConsoleBackend):
    """Prints each message as a block between two rules: to whom, about what, and its text, a link alone on its line."""

    def write_message(self, message: EmailMessage) -> None:
        """Write one message in a single call, so that no line of the log gets into it.

        A name in it comes from a person: what would steer the terminal is left out.
        """
        head = [f"To:      {', '.join(message.recipients())}", f"Subject: {message.subject}", ""]
        lines = [INDENT + printable(line) if line else "" for line in [*head, *str(message.body).strip().split("\n")]]
        self.stream.write("\n".join(["", TITLE.ljust(WIDTH, "─"), "", *lines, "", "─" * WIDTH, "", ""]))


def mail_is_printed() -> bool:
    """Return whether messages are printed in the terminal of the service instead of sent."""
    return bool(settings.EMAIL_BACKEND == BACKEND)


def printable(text: str) -> str:
    """Return the text without control characters."""
    return "".join(character for character in text if character.isprintable())

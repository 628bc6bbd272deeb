"""The one error of this package that is meant to be read by the person who typed the command."""


class StartError(Exception):
    """The service cannot start or go on; the message is one clear sentence that says what to do."""

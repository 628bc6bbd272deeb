#!/usr/bin/env python
"""Django's command line, with the embedded servers running while a command needs them."""

import os
import sys

from embedded.errors import StartError
from embedded.folder import DataFolder
from embedded.servers import data_dir, needed, running

#: Commands that open no connection to the database.
WITHOUT_SERVERS = {
    "", "check", "collectstatic", "compilemessages", "diffsettings", "help", "makemessages", "spectacular", "version",
}  # fmt: skip


def main() -> None:
    """Run the command that sys.argv names."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    folder = DataFolder.at(data_dir())
    wanted = [] if command in WITHOUT_SERVERS else needed(folder)
    try:
        with running(folder.root, wanted=wanted):
            execute_from_command_line(sys.argv)
    except (StartError, ImproperlyConfigured) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

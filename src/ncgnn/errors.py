"""The one kind of error a user can cause and mend."""


class InputError(ValueError):
    """Bad input: a file, table, name, option or configuration. The message is one line that says what to do.

    The command line prints it and exits with 2; in Python it is a plain ``ValueError``.
    """

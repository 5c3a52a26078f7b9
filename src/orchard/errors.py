"""The one family of errors that a user can repair: the message names the place and says what to do."""


class OrchardError(Exception):
    """A problem in the user's input, configuration or surroundings, told in a sentence that helps."""


class ConfigError(OrchardError, ValueError):
    """A configuration file or key is wrong; the message reads `file: key: what is wrong`."""


class FormatError(OrchardError, ValueError):
    """An input file is malformed; the message reads `file:line: what is wrong`."""

    def __init__(self, path, line, problem):
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class OversizedModel(OrchardError):
    """A model outgrew the size that its user allows; training was stopped."""


class FetchError(OrchardError):
    """No source could deliver a data set; the message lists every source with its reason."""

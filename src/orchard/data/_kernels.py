"""Numba kernels that read the rows of the XMC text format straight from its bytes."""

import numpy as np

from orchard.jit import njit

# What `parse_rows` may find wrong; the caller puts it into words.
NOTHING, LABEL, LABEL_RANGE, FEATURE, FEATURE_RANGE, FEATURE_ORDER, VALUE = range(7)

SPACE, COMMA, COLON, NEWLINE, RETURN, DOT, MINUS, PLUS, LOWER_E = (ord(c) for c in " ,:\n\r.-+e")
LOWER_CASE = 0x20  # the bit that turns E into e

MANY = 10**17  # a number that grew past this takes no further digit, so that it cannot overflow int64
POWERS_OF_TEN = np.array([float(f"1e{power}") for power in range(64)])

# Digits beyond `MANY`, the rounded power of ten and three rounded operations together err by less than 2⁻⁵⁰.
SLIGHTLY_LESS, SLIGHTLY_MORE = 1 - 2.0**-50, 1 + 2.0**-50


@njit(nogil=True, cache=True)
def count_marks(text, position):
    """Count the newlines, commas and colons of `text` from `position` on."""
    newlines = commas = colons = 0
    for byte in text[position:]:
        newlines += byte == NEWLINE
        commas += byte == COMMA
        colons += byte == COLON
    return newlines, commas, colons


@njit(nogil=True, cache=True)
def find_colons(text, position, ordinals, positions):
    """Fill `positions` with where the colons number `ordinals` (increasing, counted from 0) of `text` stand."""
    seen = found = 0
    while found < ordinals.size:
        if text[position] == COLON:
            if seen == ordinals[found]:
                positions[found] = position
                found += 1
            seen += 1
        position += 1


@njit(nogil=True, cache=True)
def _is_byte(text, position, byte):
    return position < text.size and text[position] == byte


@njit(nogil=True, cache=True)
def _ends_line(text, position):
    """Whether a line ends here: with LF, with CR LF, or with the text itself."""
    if _is_byte(text, position, RETURN):
        position += 1
    return position >= text.size or text[position] == NEWLINE


@njit(nogil=True, cache=True)
def _ends_token(text, position):
    return _is_byte(text, position, SPACE) or _ends_line(text, position)


@njit(nogil=True, cache=True)
def _read_digits(text, position, number):
    """Append the decimal digits at `position` to `number`: (number, position after, how many did not fit)."""
    dropped = 0
    while position < text.size:
        digit = np.int64(text[position]) - 48
        if not 0 <= digit <= 9:
            break
        if number < MANY:
            number = number * 10 + digit
        else:
            dropped += 1
        position += 1
    return number, position, dropped


@njit(nogil=True, cache=True)
def _read_value(text, start):
    """Read a decimal number: (float32 value, position after it); the position is `start` if there is no number.

    The value is NaN where this quick arithmetic cannot be sure of float32(float64(number)): the number lies too
    close to the border between two float32, is too large for one, or its exponent is out of the ordinary.
    """
    negative = _is_byte(text, start, MINUS)
    first = start + 1 if negative or _is_byte(text, start, PLUS) else start
    mantissa, position, exponent = _read_digits(text, first, 0)
    n_digits = position - first
    if _is_byte(text, position, DOT):
        first = position + 1
        mantissa, position, dropped = _read_digits(text, first, mantissa)
        n_digits += position - first
        exponent -= position - first - dropped
    if n_digits == 0:
        return np.float32(np.nan), start
    if position < text.size and text[position] | LOWER_CASE == LOWER_E:
        down = _is_byte(text, position + 1, MINUS)
        first = position + 2 if down or _is_byte(text, position + 1, PLUS) else position + 1
        written, position, _ = _read_digits(text, first, 0)
        if position == first:
            return np.float32(np.nan), start
        exponent += -written if down else written

    if abs(exponent) >= POWERS_OF_TEN.size:
        return np.float32(np.nan), position
    value = mantissa * POWERS_OF_TEN[exponent] if exponent > 0 else mantissa / POWERS_OF_TEN[-exponent]
    # Rounding is monotone: if both ends of the interval round to one float32, so does everything between them.
    rounded = np.float32(value * SLIGHTLY_LESS)
    if rounded != np.float32(value * SLIGHTLY_MORE) or rounded == np.inf:
        return np.float32(np.nan), position
    return -rounded if negative else rounded, position


@njit(nogil=True, cache=True)
def parse_rows(text, position, n_features, n_labels, label_ends, labels, feature_ends, features, values):
    """Fill two CSR structures with the rows of `text`, one row per line, from `position` on.

    label_ends, feature_ends : (n_rows + 1,), their first entry 0.  labels, features, values : large enough.
    Returns (problem, its position).  Values that `_read_value` is not sure of are left NaN for the caller.
    """
    label = feature = 0
    for row in range(label_ends.size - 1):
        _, after, _ = _read_digits(text, position, 0)
        if not _ends_token(text, position) and not _is_byte(text, after, COLON):
            while True:
                index, after, _ = _read_digits(text, position, 0)
                another = _is_byte(text, after, COMMA)
                if after == position or not (another or _ends_token(text, after)):
                    return LABEL, position
                if index >= n_labels:
                    return LABEL_RANGE, position
                labels[label] = index
                label += 1
                position = after
                if not another:
                    break
                position += 1
        label_ends[row + 1] = label

        previous = -1
        while True:
            while _is_byte(text, position, SPACE):
                position += 1
            if _ends_line(text, position):
                break
            index, after, _ = _read_digits(text, position, 0)
            if after == position or not _is_byte(text, after, COLON):
                return FEATURE, position
            if index >= n_features:
                return FEATURE_RANGE, position
            if index <= previous:
                return FEATURE_ORDER, position
            value, end = _read_value(text, after + 1)
            if end == after + 1 or not _ends_token(text, end):
                return VALUE, position
            features[feature] = previous = index
            values[feature] = value
            feature += 1
            position = end
        feature_ends[row + 1] = feature
        position += 2 if _is_byte(text, position, RETURN) else 1
    return NOTHING, position

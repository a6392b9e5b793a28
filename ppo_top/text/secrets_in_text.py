"""What looks like a key or a password in settings and in text: none of it is passed on."""

from __future__ import annotations

import re

HIDDEN = "[hidden]"

_SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|pwd|credential|auth|bearer|cookie|webhook|private|dsn",
    re.IGNORECASE,
)
_HARMLESS_NAME = re.compile(
    r"(?<![a-z])(?:num|max|min|n|total|avg|mean|pad|eos|bos|stop)_?\w*tokens?"
    r"|token(?:izer|s)",
    re.IGNORECASE,
)
"""`max_new_tokens` and `tokenizer` are no secrets."""
_SECRET_NUMBER_NAME = re.compile(
    r"passw|passphrase|pwd|secret|credential|(?:api|access|private|auth)_?(?:key|token)",
    re.IGNORECASE,
)
"""A number is one only by such a name: `key_dim` and `eos_token_id` are none."""
_SECRET = re.compile(
    r"\b(?:sk|hf|gh[pousr]|glpat|xox[a-z]|AKIA|eyJ)[-_A-Za-z0-9]{8,}"
    r"|(?<=://)[^/\s:@]{0,200}:[^@\s]{1,200}(?=@)"
    r"|-----BEGIN[\s\S]*"
    r"|\b(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks)\S*"
    r"|(?i:(?<=bearer )\S{8,})"
    r"|(?i:(?<=[?&;\s\"'_-])|^)(?i:key|token|secret|password|passwd|pwd)[\"']?\s*[=:]\s*\S+"
    r"|(?i:(?<![\w-])--[\w-]{1,40}(?:key|token|secret|password)[ =]\S+)"
    r"|(?<![\w/.+-])(?=[A-Za-z+]*\d)(?=[\d+]*[A-Za-z])[A-Za-z\d+]{32,}(?![\w/.-])"
)
"""Known prefixes of keys, passwords in addresses, assignments and options, long random words.

Repetitions are bounded or begin where a word does: a hostile line takes no longer than another.
"""


def is_secret(name: str, value: object) -> bool:
    """Whether a setting looks like a key, a password or an address that holds one."""
    if isinstance(value, str):
        named = _SECRET_NAME.search(name) is not None and _HARMLESS_NAME.search(name) is None
        return named or _SECRET.search(value) is not None
    return not isinstance(value, bool) and _SECRET_NUMBER_NAME.search(name) is not None


def without_secrets(text: str) -> str:
    """The text with `[hidden]` in place of what looks like a secret."""
    return _SECRET.sub(HIDDEN, text)

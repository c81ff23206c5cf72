# Made from the declarations in connector-scala/core; renew with: ./dev generate
"""What is shown of the values of options. Not meant to be edited."""

from __future__ import annotations

import re

HIDDEN = "*********(redacted)"

# Names of the options whose values are never shown, in lower case.
SENSITIVE = frozenset(
    {
        "awsaccesskey",
        "awsaccesskeyid",
        "awssecretkey",
        "kinesis.awsaccesskeyid",
        "kinesis.awssecretkey",
        "kinesis.sessiontoken",
        "kinesis.sink.proxypassword",
        "kinesis.sink.proxyusername",
        "metadatatoken",
        "proxypassword",
        "proxyuser",
        "proxyusername",
        "roleexternalid",
        "sessiontoken",
    }
)

# The same for options that end in the name of a stream.
SENSITIVE_PREFIXES = ("credentialsprovider.", "roleexternalid.")

# A reference to a secret is no secret.
REFERENCE = re.compile(
    "env:([A-Za-z_][A-Za-z0-9_]*)|file:(\\S(?:.*\\S)?)|conf:(spark\\.[A-Za-z0-9_.-]+)|class:([A-Za-z_][A-Za-z0-9_.$]*)"
)

# The first group is what stays before a secret.
PATTERNS = (
    re.compile("^(https?://[^?#]+\\?)[^#]+"),
    re.compile("(//)[^/@\\s?#]+(?=@)"),
    re.compile(
        "(?i)([?&](?:[^=&#\\s]*(?:token|secret|passw|signature|credential|api[-_]?key|access[-_]?key"
        "|auth)[^=&#\\s]*|sig|key|code|pwd)=)[^&#\\s'\"]+"
    ),
    re.compile(
        "(?i)((?:x-amz-security-token|security-?token|session-?token|secret-?access-?key|access-?ke"
        "y-?id|x-amz-signature|x-amz-credential|\\bsignature|\\bcredential)[\"']?\\s*[:=>]\\s*[\"']?)[^\\s"
        "\"'<>,;&]+"
    ),
    re.compile("(?i)(bearer\\s+)(?=\\S*[0-9])[a-z0-9._~+/=-]{8,}"),
    re.compile("(\\b(?:AKIA|ASIA))[A-Z0-9]{12,}"),
)


def redacted(key: str, value: str) -> str:
    """Return what is shown of the value of an option."""
    name = key.lower()
    if name in SENSITIVE or name.startswith(SENSITIVE_PREFIXES):
        return value if REFERENCE.fullmatch(value) else HIDDEN
    for pattern in PATTERNS:
        value = pattern.sub(lambda found: found.group(1) + HIDDEN, value)
    return value

"""What scenarios and checks write."""

GAME = "SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4"
PERSON = "SBPerson|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b5"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 12_000

ODD_VALUES = [
    "integer:0", "integer:-1", "integer:9223372036854775807", "integer:-9223372036854775808", "real:1.5", "real:3.0",
    "real:inf", "real:-inf", "real:-0.0", "real:1e300", "text:007", "text:1e3", "text:", "text: 12 ", "text:äöü \u202e", "blob:",
    "blob:00ff", "date:2015-11-25T10:00:00Z", "date:2015-11-25T10:00:00.250+00:00", "date:-62167219200000",
    "date:253402300799999", f"reference:{PERSON}", "reference:Unknown|~|x", "null:",
]  # fmt: skip

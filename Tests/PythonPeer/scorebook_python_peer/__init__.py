"""A second, independent implementation of the scorebook-peer protocol, written from Protocol/protocol.md alone.

It knows no schema: it merges, keeps and forwards records, as protocol.md 9.2 allows a peer to do.
"""

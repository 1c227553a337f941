"""Signatures of certificates: keys, the form that is signed, and by whose key a certificate is signed."""

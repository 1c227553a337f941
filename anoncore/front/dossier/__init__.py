"""The dossier of a release: what a person reads, prints and signs before a table leaves the house."""

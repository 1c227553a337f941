"""What leaves the house: tables as files, certificates and their verification, reports, saved releases."""

"""What a server needs that is run for others: settings, sign-in and rights, quotas, a record of what was done."""

"""Workflows, whatever the database: rules, records and leases."""

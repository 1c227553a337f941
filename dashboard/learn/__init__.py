"""The pages Learn and Reference."""

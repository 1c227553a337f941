"""The pages Board, Publish and Reproduction."""

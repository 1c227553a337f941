"""The pages Board, Export and Reproduction."""

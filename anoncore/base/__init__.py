"""What every room uses and what uses none: errors, checked models, progress, scores, texts of values, memory."""

"""What is measured and judged beside the product: its speed, and whether a test notices each guard."""

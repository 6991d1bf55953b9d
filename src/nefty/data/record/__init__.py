"""Who inspected what, when and how: for people who read a report later. No number comes from it."""

"""The collection's pictures, one file a lesson. They draw numbers and never compute with a model."""

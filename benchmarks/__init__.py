"""Speed and memory of benchwright, side by side with other tools in one run: `make bench`."""

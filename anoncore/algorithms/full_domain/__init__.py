"""Full-domain and local recoding along hierarchies: Incognito and LocalRecoding."""

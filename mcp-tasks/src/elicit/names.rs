//! Whether a name looks like a secret's: the same code as in the derive.

mcp_tasks_macros::secret_names!();

// Where a plugin reports to its operator.

/** The host's log, under the plugin's name; secrets are masked. */
export interface PluginLogger {
  /** What an operator may want to know. */
  info(message: string, ...details: unknown[]): void;
  /** What works, but not as it should. */
  warn(message: string, ...details: unknown[]): void;
  /** What does not work. */
  error(message: string, ...details: unknown[]): void;
  /** What only the plugin's author wants to know. Absent: the host has no such level. */
  debug?(message: string, ...details: unknown[]): void;
}

// The words of the command line that are Clew's own.

/** Each ends up at Clew's own command, whatever a plugin adds under it. */
export const OWN_WORDS: readonly string[] = [
  ...["approvals", "chat", "compare", "complete-words", "completion", "config", "connect", "cron"],
  ...["demo", "doctor", "emulate", "engine", "help", "init", "inspect", "logs", "lossless"],
  ...["models", "plugin", "plugins", "policy", "replay", "service", "sessions", "start", "status"],
  ...["acp", "mcp", "stop", "storage", "usage", "whatif"],
];

// Reads what a terminal says of itself, before anything large is loaded.

export interface TerminalVariables {
  /** What terminals are known by; "dumb" = nothing can be painted on it. */
  kind: string;
  hasColours: boolean;
  /** False: rows that are too long for it are cut off, as xterm does. */
  breaksRows: boolean;
}

export function terminalVariables(): TerminalVariables {
  const { TERM = "dumb", NO_COLOR = "", XTERM_VERSION } = process.env;
  return { kind: TERM, hasColours: NO_COLOR === "", breaksRows: XTERM_VERSION === undefined };
}

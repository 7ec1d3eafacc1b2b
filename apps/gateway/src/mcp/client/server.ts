// What a server is that offers tools, however it was named.

/** How it is reached. */
export type McpReach =
  | {
      kind: "program";
      command: string;
      args: readonly string[];
      /** Variables besides the usual ones. */
      env: Readonly<Record<string, string>>;
      /** Absolute. Absent: the folder of this process. */
      cwd?: string | undefined;
    }
  | { kind: "http"; url: string; headers: Readonly<Record<string, string>> };

export interface McpServer {
  /** The tools' names begin with it. */
  name: string;
  reach: McpReach;
  /** "auto": the newest revision is asked for first. Absent: over HTTP only. */
  protocol?: "auto" | "legacy" | undefined;
  /**
   * Whether a person is asked before a tool runs; "hints": unless the server says it only reads.
   */
  approval: "hints" | "ask" | "allow";
  /** Its own names of the tools that are offered. Absent: all. */
  tools?: readonly string[] | undefined;
  /** Ids of the agents that may use it. Absent: all. */
  agents?: readonly string[] | undefined;
  connectTimeoutMs: number;
  callTimeoutMs: number;
  maxCallMs: number;
  /** Texts that nobody may be shown. Absent: none. */
  secrets?: readonly string[] | undefined;
  /** Why it cannot be used as it is set up. Absent: it can. */
  problem?: string | undefined;
}

/** What holds where nothing else is said. */
export const SERVER_DEFAULTS = {
  approval: "hints",
  connectTimeoutMs: 30_000,
  callTimeoutMs: 60_000,
  maxCallMs: 600_000,
} as const satisfies Partial<McpServer>;

/** Most bytes of one message of a server. */
export const MESSAGE_BYTES = 32 * 1024 * 1024;

// What a host has to do to be tried.

/** One program that runs plugins, with a home that is thrown away. */
export interface TestedHost {
  readonly name: HostName;
  readonly version: string;
  /** By the host's own command, from an archive. Throws what it says when it refuses. */
  install(archive: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  say(text: string): Promise<Said>;
  /** By the host's own command, as a person would. */
  compact(): Promise<Said>;
  /** The tool that reads a file of the workspace. */
  readFile(name: string): { tool: string; parameters: object };
  /** Sentences about turns that another engine answered. */
  faultsOfEngine(engineId: string): Promise<string[]>;
}

export type HostName = "openclaw" | "clew";

export interface Said {
  ok: boolean;
  /** What came back, for people. */
  text: string;
}

export interface HostPlace {
  /** Absolute; empty. */
  folder: string;
  /** Of the model server. */
  baseUrl: string;
  /** Variables for the host's process. Absent: none. */
  variables?: Record<string, string> | undefined;
}

/** Both hosts know the model by this. */
export const CONTEXT_WINDOW = 128_000;

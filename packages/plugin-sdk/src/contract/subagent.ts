// What a plugin may do with sessions of its own, `api.runtime.subagent` (contract §6).

/** One run in a session of the plugin's own. */
export interface SubagentRunParams {
  /**
   * `agent:<agentId>:subagent:<id>`, with a new id, or a session that the plugin started before and
   * that runs no more.
   */
  sessionKey: string;
  /** What it is to do. */
  message: string;
  /** Of `model`, where that does not name it. Absent: none. */
  provider?: string;
  /** Needs the operator's permission. Absent: the agent's. */
  model?: string;
  /** Follows the host's own system prompt. Absent: nothing does. */
  extraSystemPrompt?: string;
  /** Hosts with queues put it into this one. Absent: the session's. */
  lane?: string;
  /** True: the reply is said to the session that the plugin runs for. Absent: false. */
  deliver?: boolean;
  /** Becomes the run's id; a second call with it starts nothing. Absent, blank: the host's. */
  idempotencyKey?: string;
  /** True: without the instructions of the workspace. Absent: false. */
  lightContext?: boolean;
  /** True: its model is offered no tools. Absent: false. */
  disableTools?: boolean;
}

/** A run that has begun. */
export interface SubagentRun {
  /** What `waitForRun` asks for. */
  runId: string;
  /** As the host writes it. Absent: as it was given. */
  sessionKey?: string;
}

/** How a run is. */
export interface SubagentRunStatus {
  /**
   * "timeout": it is not over yet, or was ended because its time was · "pending": another process
   * has it.
   */
  status: "ok" | "error" | "timeout" | "pending";
  /** For people. Absent: nothing went wrong. */
  error?: string;
}

/**
 * Sessions that a plugin starts, reads and deletes; those of others it cannot reach. Each call is
 * made for the request that it comes from, and outside any for the host. A call that is refused
 * rejects with a sentence that says why.
 */
export interface PluginSubagents {
  /** Resolves once the run has begun. */
  run(params: SubagentRunParams): Promise<SubagentRun>;
  /** Resolves once it is over, or the time is. */
  waitForRun(params: {
    runId: string;
    /** Absent: until it is over. */
    timeoutMs?: number;
  }): Promise<SubagentRunStatus>;
  /** The newest messages as people see them, oldest first. */
  getSessionMessages(params: {
    sessionKey: string;
    /** How many, 1 to 1000. Absent: 200. */
    limit?: number;
  }): Promise<{ messages: unknown[] }>;
  /** Ends what runs there first. */
  deleteSession(params: {
    sessionKey: string;
    /** False: the session is kept for people. Absent: true. */
    deleteTranscript?: boolean;
  }): Promise<void>;
}

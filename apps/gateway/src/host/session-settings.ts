// What differs in one session from its agent's settings.

/** Of a session that another one started. */
export interface SessionSettings {
  /** "provider/model"; null = its agent's. */
  model: string | null;
  /** Registered id of its context engine; null = its agent's. */
  engine: string | null;
  /** How many model calls one of its turns may make; null = its agent's. */
  maxModelCalls: number | null;
  /** True: its model is not shown the workspace's instructions. */
  isLight: boolean;
  /** Follows the host's own system prompt; absent = nothing does. */
  extraSystemPrompt?: string | undefined;
  /** True: its model is offered no tools; absent = those of its agent. */
  isToolless?: boolean | undefined;
}

// What a host tells a plugin while it runs, and what the plugin may answer.
import type { AgentMessage, AssistantMessage, Usage } from "./message.ts";

/**
 * Where and for whom something happens. A host tells what it knows: in hooks without a session most
 * is absent.
 */
export interface PluginHookContext {
  /** Whose session it is. Absent: it is in none. */
  agentId?: string;
  /** The session's current transcript. Absent: it is in none. */
  sessionId?: string;
  /** The session's stable name. Absent: it is in none. */
  sessionKey?: string;
  /** Folder that the agent works in. Absent: it is in no session. */
  workspaceDir?: string;
  /** What began the turn: "user", "heartbeat", "cron". Absent: there is none, or nobody knows. */
  trigger?: string;
  /** What the message came by. Absent: it is in no session. */
  messageProvider?: string;
  /** The channel of it. Absent: it is in no session. */
  channelId?: string;
  /** The conversation in that channel. Absent: it is in no session. */
  conversationId?: string;
  /** Who speaks there. Absent: it is in no session. */
  senderId?: string;
  /** The turn, or the child's run. Absent: there is none. */
  runId?: string;
  /** The tool that is called. Absent: it is about none. */
  toolName?: string;
  /** The call of it. Absent: it is about none. */
  toolCallId?: string;
  /** The child session. Absent: it is about none. */
  childSessionKey?: string;
  /** Who started the child. Absent: it is about none. */
  requesterSessionKey?: string;
}

/** What a model is about to be asked. */
export interface PluginPromptEvent {
  /** What the person said. */
  prompt: string;
  /** The history before it; a list of the handler's own. */
  messages: AgentMessage[];
}

/** What is added to a prompt; texts of several plugins are joined by blank lines. */
export interface PluginPromptAdditions {
  /** Replaces the host's system prompt. Absent or blank: it stays. */
  systemPrompt?: string;
  /** Text before the person's. Absent: none. */
  prependContext?: string;
  /** Text after the person's. Absent: none. */
  appendContext?: string;
  /** Text before the system prompt. Absent: none. */
  prependSystemContext?: string;
  /** Text after the system prompt. Absent: none. */
  appendSystemContext?: string;
  /** Names of the only tools of this turn. Absent: all are offered. */
  toolsAllow?: string[];
}

/** One call of a model, as a plugin is told of it. */
export interface PluginModelCall {
  /** The session's current transcript. */
  sessionId: string;
  /** Who is asked. */
  provider: string;
  /** The model's id there. */
  model: string;
  /** The turn. Absent: it is in none. */
  runId?: string;
}

/** What a model is asked. */
export interface PluginModelInput extends PluginModelCall {
  /** The whole of it. Absent: there is none. */
  systemPrompt?: string;
  /** The newest thing a person said. */
  prompt: string;
  /** What comes before that. */
  historyMessages: AgentMessage[];
  /** Pictures in all of it. */
  imagesCount: number;
  /** Names of the tools it may call. */
  tools: string[];
}

/** What a model answered. */
export interface PluginModelOutput extends PluginModelCall {
  /** Its texts. */
  assistantTexts: string[];
  /** The message. */
  lastAssistant: AssistantMessage;
  /** Tokens it took. Absent: its provider does not tell. */
  usage?: Usage;
}

/** A turn that is over. */
export interface PluginTurnEnd {
  /** The turn. Absent: the host has no name for it. */
  runId?: string;
  /** The session as a model would see it, the turn included. */
  messages: AgentMessage[];
  /** False: it failed or was cancelled. */
  success: boolean;
  /** Why it failed. Absent: it did not. */
  error?: string;
  /** How long it took. Absent: nobody measured. */
  durationMs?: number;
}

/** What somebody said. */
export interface PluginReceivedMessage {
  /** The text. */
  content: string;
  /** ms since the epoch. Absent: not known. */
  timestamp?: number;
  /** Who said it. */
  from: string;
  /** The same. Absent: not known. */
  senderId?: string;
  /** What it came by. Absent: not known. */
  channel?: string;
  /** The session that it goes to. Absent: see the context. */
  sessionKey?: string;
  /** True: others listen. Absent: not known. */
  isGroup?: boolean;
  /** Whatever else the channel tells. Absent: nothing. */
  metadata?: Record<string, unknown>;
}

/** A call of a tool. */
export interface PluginToolCall {
  /** Its name. */
  toolName: string;
  /** Its arguments. */
  params: Record<string, unknown>;
  /** The call's id. Absent: the host gives none. */
  toolCallId?: string;
  /** The turn. Absent: it is in none. */
  runId?: string;
}

/** What a plugin says to a call before it is made. */
export interface PluginToolVerdict {
  /** Takes the place of the arguments. Absent: they stay. */
  params?: Record<string, unknown>;
  /** True: the call is refused. Absent: it is not. */
  block?: boolean;
  /** Told to the model where it is refused. Absent: that it was. */
  blockReason?: string;
  /** A person decides. Absent: nobody is asked for it. */
  requireApproval?: Record<string, unknown>;
}

/** What came of a call. */
export interface PluginToolEnd extends PluginToolCall {
  /** `content` as the model is shown it, `details` for others. Absent: the tool gave none. */
  result?: unknown;
  /** Why it failed. Absent: it did not. */
  error?: string;
  /** How long it took. Absent: nobody measured. */
  durationMs?: number;
}

/** A session that is left for another transcript, or hides what was said. */
export interface PluginSessionReset {
  /** Where it is stored. Absent: the host does not keep it in a file. */
  sessionFile?: string;
  /** What a model would still have seen. */
  messages: AgentMessage[];
  /** "new", "reset", or a host's own word. */
  reason: string;
}

/** A transcript that nothing is added to any more. */
export interface PluginSessionEnd {
  /** The transcript. */
  sessionId: string;
  /** The session's stable name. */
  sessionKey: string;
  /** Where it is stored. Absent: the host does not keep it in a file, or it is deleted. */
  sessionFile?: string;
  /** Messages in it. */
  messageCount: number;
  /** "new", "reset", "shutdown", "deleted", or a host's own word. */
  reason: string;
  /** Where the session goes on. Absent: nowhere yet. */
  nextSessionId?: string;
  /** Under which name. Absent: it ends. */
  nextSessionKey?: string;
}

/** A child session that begins. */
export interface PluginChildStart {
  /** Its run. */
  runId: string;
  /** Its stable name. */
  childSessionKey: string;
  /** Whose session it is. */
  agentId: string;
  /** What it is called. Absent: it has no name for people. */
  label?: string;
  /** "isolated", or "fork" where it knows what its parent knows. Absent: the host has one kind. */
  contextMode?: string;
  /** Who started it. Absent: the host does not tell. */
  requester?: {
    /** Its stable name. Absent: not known. */
    sessionKey?: string;
  };
}

/** A child session that is over. */
export interface PluginChildEnd {
  /** Its run. Absent: not known. */
  runId?: string;
  /** Its stable name. */
  targetSessionKey: string;
  /** "subagent". */
  targetKind: string;
  /** What the parent is told. */
  reason: string;
  /** "ok", "error", "timeout" or "killed". Absent: not known. */
  outcome?: string;
  /** Why it failed. Absent: it did not. */
  error?: string;
}

/** A compaction that begins, or is over. */
export interface PluginCompaction {
  /** Messages that a model would be shown. */
  messageCount: number;
  /** Tokens of them. Absent: not known. */
  tokenCount?: number;
  /** Where the session is stored. Absent: the host does not keep it in a file. */
  sessionFile?: string;
  /** What asked for it. Absent: it is over, or not known. */
  trigger?: string;
  /** True: it changed something. Absent: it only begins. */
  compacted?: boolean;
  /** Messages it took, −1 where only its engine knows. Absent: it only begins. */
  compactedCount?: number;
  /** The transcript before it. Absent: it is still the same. */
  previousSessionId?: string;
}

/** What happens beside sessions, as `registerHook` tells it. */
export interface PluginInternalEvent {
  /** "command", "gateway". */
  type: string;
  /** "new" or "reset" of a command, "startup" of the gateway. */
  action: string;
  /** The session it was typed in; "" where there is none. */
  sessionKey: string;
  /** Whatever else is known. */
  context: Record<string, unknown>;
  /** When it happened. */
  timestamp: Date;
  /** What is put here, other hosts show to the person. */
  messages: string[];
}

/** What a handler of a hook may answer: nothing, or a value, at once or later. */
export type PluginHookAnswer<Value> = Value | undefined | Promise<Value | undefined>;

/**
 * By name, what a handler is given and may answer. What observes is given copies and nobody waits
 * for it; what hangs is given up after ten to thirty seconds.
 */
export interface PluginHooks {
  /** Before a model is asked for the first time in a turn; adds to what it is told. */
  before_prompt_build(
    event: PluginPromptEvent,
    context: PluginHookContext,
  ): PluginHookAnswer<PluginPromptAdditions>;
  /** The same under its old name. */
  before_agent_start(
    event: PluginPromptEvent,
    context: PluginHookContext,
  ): PluginHookAnswer<PluginPromptAdditions>;
  /** Observes each call of a model. */
  llm_input(event: PluginModelInput, context: PluginHookContext): unknown;
  /** Observes each answer of a model. */
  llm_output(event: PluginModelOutput, context: PluginHookContext): unknown;
  /** Observes a turn that is over. */
  agent_end(event: PluginTurnEnd, context: PluginHookContext): unknown;
  /** Observes what a person said. */
  message_received(event: PluginReceivedMessage, context: PluginHookContext): unknown;
  /** Is waited for before a model is asked. */
  before_dispatch(event: PluginReceivedMessage, context: PluginHookContext): unknown;
  /** Before a message is stored: answers at once, with the message in other words, or nothing. */
  before_message_write(
    event: {
      /** As it would be stored. */
      message: AgentMessage;
    },
    context: PluginHookContext,
  ):
    | {
        /** The same but for its texts. Absent: it is stored as it is. */
        message?: AgentMessage;
      }
    | undefined;
  /** Before a tool runs. A handler that fails refuses the call. */
  before_tool_call(
    event: PluginToolCall,
    context: PluginHookContext,
  ): PluginHookAnswer<PluginToolVerdict>;
  /** Observes what came of a tool. */
  after_tool_call(event: PluginToolEnd, context: PluginHookContext): unknown;
  /** Before `/new` and `/reset`. */
  before_reset(event: PluginSessionReset, context: PluginHookContext): unknown;
  /** When a transcript is left. */
  session_end(event: PluginSessionEnd, context: PluginHookContext): unknown;
  /** When a child session begins. */
  subagent_spawned(event: PluginChildStart, context: PluginHookContext): unknown;
  /** When a child session is over. */
  subagent_ended(event: PluginChildEnd, context: PluginHookContext): unknown;
  /** Before a compaction. */
  before_compaction(event: PluginCompaction, context: PluginHookContext): unknown;
  /** After a compaction. */
  after_compaction(event: PluginCompaction, context: PluginHookContext): unknown;
  /** When the gateway takes requests, and after each reload. */
  gateway_start(
    event: {
      /** Where it listens. Absent: after a reload. */
      port?: number;
    },
    context: PluginHookContext,
  ): unknown;
  /** Before the plugin is let go. */
  gateway_stop(
    event: {
      /** Why. Absent: the host does not tell. */
      reason?: string;
    },
    context: PluginHookContext,
  ): unknown;
}

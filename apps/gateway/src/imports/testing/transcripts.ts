// Small transcripts as other programs write them, made up line by line.

/** As a file holds them. */
export const asLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

const SESSION = "5b0c3f1e-0000-4000-8000-000000000001";
const at = (second: number) => `2026-02-03T10:00:${String(second).padStart(2, "0")}.000Z`;

interface ClaudeOptions {
  parent?: string | null;
  second?: number;
  [key: string]: unknown;
}

const claude = (
  type: string,
  uuid: string,
  message: unknown,
  { parent = null, second = 0, ...more }: ClaudeOptions = {},
) => ({
  ...{ parentUuid: parent, isSidechain: false, userType: "external", cwd: "/home/ada/shop" },
  ...{ sessionId: SESSION, version: "2.1.330", gitBranch: "main", type, message, uuid },
  ...{ timestamp: at(second), ...more },
});

export const claudeUser = (uuid: string, content: unknown, options?: ClaudeOptions) =>
  claude("user", uuid, { role: "user", content }, options);

export const claudeReply = (
  uuid: string,
  id: string,
  content: readonly unknown[],
  { output = 5, ...options }: ClaudeOptions & { output?: number } = {},
) =>
  claude(
    "assistant",
    uuid,
    {
      ...{ id, type: "message", role: "assistant", model: "claude-sonnet-5-5", content },
      ...{ stop_reason: null, stop_sequence: null },
      usage: {
        ...{ input_tokens: 3, cache_creation_input_tokens: 20, cache_read_input_tokens: 100 },
        output_tokens: output,
      },
    },
    { requestId: "req_1", ...options },
  );

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const result = (id: string, content: unknown, more: object = {}) => ({
  ...{ type: "tool_result", tool_use_id: id, content, ...more },
});

/**
 * A question with a picture, two calls at once whose results stand beside each other, a subagent in
 * the same file, a branch that was left, a compaction, and lines of the client's own.
 */
export const CLAUDE: readonly unknown[] = [
  { type: "summary", summary: "A title of another session", leafUuid: "not-here" },
  { type: "file-history-snapshot", messageId: "u1", snapshot: { trackedFileBackups: {} } },
  claudeUser("u1", [
    { type: "text", text: "What is in a and b?" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]),
  claudeReply("a1", "msg_1", [{ type: "thinking", thinking: "two files", signature: "c2ln" }], {
    ...{ parent: "u1", second: 1 },
  }),
  claudeReply("a2", "msg_1", [{ type: "tool_use", id: "t1", name: "Read", input: { path: "a" } }], {
    ...{ parent: "a1", second: 2 },
  }),
  claudeUser("r1", [result("t1", "A")], { parent: "a2", second: 3, toolUseResult: { file: "a" } }),
  claudeReply("a3", "msg_1", [{ type: "tool_use", id: "t2", name: "Read", input: { path: "b" } }], {
    ...{ parent: "a2", second: 4, output: 42 },
  }),
  claudeUser("r2", [result("t2", [{ type: "text", text: "no b" }], { is_error: true })], {
    ...{ parent: "a3", second: 5 },
  }),
  claudeUser("m1", "<system-reminder>be kind</system-reminder>", {
    ...{ parent: "r2", second: 6, isMeta: true },
  }),
  claudeReply("a4", "msg_2", [{ type: "text", text: "Only a is there." }], {
    ...{ parent: "m1", second: 7 },
  }),
  claudeUser("x1", "Write a poem instead.", { parent: "a4", second: 8 }),
  claudeReply("x2", "msg_3", [{ type: "text", text: "Roses." }], { parent: "x1", second: 9 }),
  claudeUser("u2", "Ask a helper.", { parent: "a4", second: 10 }),
  claudeReply(
    "a5",
    "msg_4",
    [{ type: "tool_use", id: "t3", name: "Task", input: { prompt: "Count the files." } }],
    { parent: "u2", second: 11 },
  ),
  claudeUser("s1", "Count the files.", { second: 12, isSidechain: true }),
  claudeReply("s2", "msg_5", [{ type: "text", text: "There is one." }], {
    ...{ parent: "s1", second: 13, isSidechain: true },
  }),
  claudeUser("r3", [result("t3", "There is one.")], { parent: "a5", second: 14 }),
  claudeReply("a6", "msg_6", [{ type: "text", text: "One file." }], { parent: "r3", second: 15 }),
  {
    ...{ parentUuid: null, logicalParentUuid: "a6", isSidechain: false, sessionId: SESSION },
    ...{ type: "system", subtype: "compact_boundary", content: "Conversation compacted" },
    ...{ uuid: "c1", timestamp: at(16), compactMetadata: { trigger: "auto", preTokens: 155_000 } },
  },
  claudeUser("c2", "They asked about a and b. Only a is there.", {
    ...{ parent: "c1", second: 17, isCompactSummary: true, isVisibleInTranscriptOnly: true },
  }),
  claudeUser("u3", "Thanks.", { parent: "c2", second: 18 }),
  claudeReply("a7", "msg_7", [{ type: "text", text: "Gladly." }], { parent: "u3", second: 19 }),
  { type: "custom-title", customTitle: "Files a and b", sessionId: SESSION },
];

export const CLAUDE_KEY = `claude-code:${SESSION}`;

const THREAD = "0199a213-81c0-7800-8aa1-bbab2a035a53";
const codex = (second: number, type: string, payload: object) => ({
  ...{ timestamp: at(second), type, payload },
});
const item = (second: number, payload: object) => codex(second, "response_item", payload);
const said = (second: number, role: string, text: string) =>
  item(second, {
    ...{ type: "message", role },
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
  });
const tokens = (second: number, input: number, cached: number, output: number) =>
  codex(second, "event_msg", {
    type: "token_count",
    info: {
      last_token_usage: {
        ...{ input_tokens: input, cached_input_tokens: cached, output_tokens: output },
        ...{ reasoning_output_tokens: 1, total_tokens: input + output },
      },
      model_context_window: 272_000,
    },
  });

/** Two calls, a turn that was taken back, a compaction, and what the client says to itself. */
export const CODEX: readonly unknown[] = [
  codex(0, "session_meta", {
    ...{ id: THREAD, timestamp: at(0), cwd: "/home/ada/shop", originator: "codex_exec" },
    ...{ cli_version: "0.169.0", source: "exec", model_provider: "openai" },
  }),
  said(1, "developer", "Be brief."),
  said(1, "user", "<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>"),
  codex(2, "turn_context", { cwd: "/home/ada/shop", model: "gpt-5.5-codex", effort: "medium" }),
  said(2, "user", "What is in a?"),
  codex(2, "event_msg", { type: "user_message", message: "What is in a?" }),
  item(3, {
    ...{ type: "reasoning", summary: [{ type: "summary_text", text: "look" }], content: null },
    encrypted_content: "gAAA",
  }),
  item(3, {
    type: "function_call",
    name: "shell",
    arguments: '{"command":["cat","a"]}',
    call_id: "k1",
  }),
  item(3, { type: "custom_tool_call", name: "apply_patch", input: "*** Begin", call_id: "k2" }),
  tokens(4, 1000, 800, 30),
  item(5, {
    ...{ type: "function_call_output", call_id: "k1" },
    output: '{"output":"A\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}',
  }),
  item(5, { type: "custom_tool_call_output", call_id: "k2", output: "Done" }),
  said(6, "assistant", "A, and it failed."),
  tokens(6, 1100, 1000, 9),
  codex(7, "event_msg", { type: "task_complete", last_agent_message: "A, and it failed." }),
  said(8, "user", "Delete everything."),
  said(9, "assistant", "No."),
  codex(10, "event_msg", { type: "thread_rolled_back", num_turns: 1 }),
  said(11, "user", "And b?"),
  said(12, "assistant", "There is none."),
  codex(13, "compacted", { message: "They looked for a and b." }),
  said(14, "user", "Thanks."),
  said(15, "assistant", "Gladly."),
  codex(16, "ghost_commit", { id: "abc" }),
];

export const CODEX_KEY = `codex:${THREAD}`;

export const CHAT: readonly unknown[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "What is in a?" }] },
  {
    ...{ role: "assistant", content: null },
    tool_calls: [
      { id: "k1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
    ],
  },
  { role: "tool", tool_call_id: "k1", content: "A" },
  { role: "assistant", content: "A is in it." },
];

export const RESPONSES: readonly unknown[] = [
  { role: "user", content: [{ type: "input_text", text: "What is in a?" }] },
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
  { type: "function_call", call_id: "k1", name: "read", arguments: '{"path":"a"}' },
  { type: "function_call_output", call_id: "k1", output: "A" },
  {
    ...{ type: "message", role: "assistant" },
    content: [{ type: "output_text", text: "A is in it." }],
  },
];

const pi = (id: string, parentId: string | null, second: number, rest: object) => ({
  ...{ id, parentId, timestamp: at(second), ...rest },
});
const piSaid = (id: string, parentId: string | null, second: number, message: object) =>
  pi(id, parentId, second, { type: "message", message });

/** A branch that was left, and a line of a kind that nobody knows. */
export const PI: readonly unknown[] = [
  { type: "session", version: 3, id: "pi-1", timestamp: at(0), cwd: "/home/ada/shop" },
  piSaid("e1", null, 1, { role: "user", content: "What is in a?" }),
  piSaid("e2", "e1", 2, {
    ...{ role: "assistant", content: [{ type: "text", text: "Nothing." }], stopReason: "stop" },
    usage: { input: 10, output: 2, cacheRead: 5, cacheWrite: 0, totalTokens: 17 },
  }),
  piSaid("e3", "e1", 3, {
    ...{ role: "assistant", content: [{ type: "text", text: "A." }], stopReason: "stop" },
    ...{ provider: "anthropic", model: "claude-sonnet-5-5" },
  }),
  pi("e4", "e3", 4, { type: "mood", mood: "good" }),
  piSaid("e5", "e4", 5, { role: "user", content: "Thanks." }),
];

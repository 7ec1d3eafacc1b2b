// Decides which lines of a Claude Code transcript are the conversation as it went on.
import { memberOf } from "../strand.ts";

/** What is remembered of a line to place it. */
export interface ClaudeNode {
  /** Number of the line. */
  line: number;
  uuid: string;
  parent: string | null;
  kind: "reply" | "results" | "person" | "other";
  /** Of the reply that the line is a part of; "" where it is none. */
  messageId: string;
  /** Calls that it makes. */
  calls: readonly string[];
  /** Calls that it answers. */
  answers: readonly string[];
  /** The subagent whose line it is; null = of the conversation itself, or nobody says whose. */
  agent: string | null;
  isSide: boolean;
}

/** Where the lines of one conversation go. */
export interface ClaudePlan {
  /** Lines of the branch that counts. */
  path: ReadonlySet<number>;
  /** The last line of each reply that is written in several, by the reply's id. */
  lastOf: ReadonlyMap<string, number>;
  nodes: ReadonlyMap<string, ClaudeNode>;
}

/** Pure. Undefined: the line has no place in the tree. */
export function nodeOf(value: unknown, line: number): ClaudeNode | undefined {
  const uuid = memberOf(value, "uuid");
  if (typeof uuid !== "string" || uuid === "") return undefined;
  const message = memberOf(value, "message");
  const content = memberOf(message, "content");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const named = (type: string, name: string) =>
    blocks.flatMap((block) => {
      const id = memberOf(block, "type") === type ? memberOf(block, name) : undefined;
      return typeof id === "string" ? [id] : [];
    });
  const type = memberOf(value, "type");
  const answers = type === "user" ? named("tool_result", "tool_use_id") : [];
  const isReply = type === "assistant" && message !== undefined;
  const agent = memberOf(value, "agentId");
  return {
    ...{ line, uuid, answers },
    parent: textOr(memberOf(value, "parentUuid")) ?? textOr(memberOf(value, "logicalParentUuid")),
    kind: isReply
      ? "reply"
      : type !== "user" || message === undefined
        ? "other"
        : answers.length > 0
          ? "results"
          : "person",
    messageId: (isReply && textOr(memberOf(message, "id"))) || "",
    calls: isReply ? named("tool_use", "id") : [],
    agent: typeof agent === "string" && agent !== "" ? agent : null,
    isSide: memberOf(value, "isSidechain") === true,
  };
}

const textOr = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

/**
 * Pure. Of subagents whose lines name nobody, the first line names them. The names of the
 * conversations by line; "" = the main one.
 */
export function planStrands(nodes: readonly ClaudeNode[]): ReadonlyMap<string, ClaudeNode[]> {
  const byId = new Map(nodes.map((node) => [node.uuid, node]));
  const nameOf = new Map<string, string>();
  const strands = new Map<string, ClaudeNode[]>();
  for (const node of nodes) {
    const parent = node.parent === null ? undefined : byId.get(node.parent);
    const inherited = parent?.isSide === true ? nameOf.get(parent.uuid) : undefined;
    const name = node.isSide ? (node.agent ?? inherited ?? node.uuid) : "";
    nameOf.set(node.uuid, name);
    const strand = strands.get(name);
    if (strand === undefined) strands.set(name, [node]);
    else strand.push(node);
  }
  return strands;
}

/**
 * Pure. The branch of the newest message counts. What its calls were answered with belongs to it,
 * though it may stand beside: results of calls at once are written as they come.
 */
export function planClaude(strand: readonly ClaudeNode[]): ClaudePlan {
  const nodes = new Map(strand.map((node) => [node.uuid, node]));
  const leaf = strand.findLast(({ kind }) => kind !== "other") ?? strand.at(-1);
  const path = new Set<number>();
  const before = new Map(strand.map((node, at) => [node.line, strand[at - 1]]));
  for (let node = leaf; node !== undefined && !path.has(node.line); ) {
    path.add(node.line);
    // Behind a line that is lost the file's order is all there is.
    node = node.parent === null ? undefined : (nodes.get(node.parent) ?? before.get(node.line));
  }
  absorb(strand, path);
  const lastOf = new Map<string, number>();
  for (const { messageId, line } of strand) if (messageId !== "") lastOf.set(messageId, line);
  return { path, lastOf, nodes };
}

function absorb(strand: readonly ClaudeNode[], path: Set<number>): void {
  const replies = new Set<string>();
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const { line, messageId, answers } of strand) {
    if (!path.has(line)) continue;
    if (messageId !== "") replies.add(messageId);
    for (const id of answers) answered.add(id);
  }
  for (const { line, kind, messageId, calls, answers } of strand) {
    const isPart = messageId !== "" && replies.has(messageId);
    const isAnswer = answers.some((id) => open.has(id) && !answered.has(id));
    // What is no message has no branch of its own.
    if (path.has(line) || kind === "other" || isPart || isAnswer) {
      path.add(line);
      for (const id of calls) open.add(id);
      for (const id of answers) answered.add(id);
    }
  }
}

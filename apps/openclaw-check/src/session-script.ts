// The session that every plugin is led through, in every host.

/** One thing that a person does. */
export type Step =
  /** A message, and what it is for. */
  { kind: "say"; phase: Phase; text: string } | { kind: "compact" } | { kind: "restart" };

export type Phase = "plain" | "tool" | "compacted" | "overflow" | "after" | "restarted" | "recall";

/** What the model is told to do by the message it answers. */
export const callTool = (name: string, parameters: object): string =>
  `[[tool:${name} ${JSON.stringify(parameters)}]]`;
/** The first `times` requests with this tag are refused as too large. */
export const overflow = (tag: string, times: number): string => `[[overflow:${tag}x${times}]]`;

/** Said once, near the beginning, in words that nothing else holds. */
export const FACT = "Elbe-7719";

export interface ScriptRequest {
  /** The host's tool that reads a file, and its parameters. */
  readFile: (name: string) => { tool: string; parameters: object };
  /** The plugin's tool that finds what was said. Absent: it has none. */
  recall?: { tool: string; parameters: object } | undefined;
  /** Unique per session, as the model remembers what it refused. */
  tag: string;
}

/** Files of the workspace that are read. */
export const FILES: readonly string[] = Array.from({ length: 8 }, (_, at) => `f${at + 1}.txt`);

/** Pure. Thirty messages, two compactions by a person, an overflow and two restarts. */
export function sessionScript({ readFile, recall, tag }: ScriptRequest): Step[] {
  const say = (phase: Phase, text: string): Step => ({ kind: "say", phase, text });
  const read = (name: string) => {
    const { tool, parameters } = readFile(name);
    return callTool(tool, parameters);
  };
  const reads = (names: readonly string[], why: string) =>
    names.map((name) => say("tool", `Please read ${name} ${why}. ${read(name)}`));
  const asked = recall && callTool(recall.tool, recall.parameters);
  return [
    say("plain", `Hello. The harbour is called ${FACT}; remember it.`),
    say("plain", "The boat is blue."),
    say("plain", "And the dog is called Bo."),
    ...reads(FILES, "for the first time"),
    { kind: "compact" },
    say("compacted", "What did we do so far?"),
    say("compacted", "Good, go on."),
    ...reads(FILES.slice(0, 6), "again"),
    say("overflow", `Now sum it up. ${overflow(tag, 1)}`),
    say("after", "Thank you."),
    { kind: "restart" },
    say("restarted", "Are you still there?"),
    say("restarted", "Then we go on."),
    say("recall", ["What is the harbour called?", asked ?? []].flat().join(" ")),
    say("tool", `Two at once. ${read("f7.txt")} ${read("f8.txt")}`),
    say("plain", "That was plenty."),
    { kind: "compact" },
    say("compacted", "And now?"),
    { kind: "restart" },
    say("restarted", "Hello again."),
    say("tool", `Once more. ${read("f1.txt")}`),
    say("plain", "The end."),
  ];
}

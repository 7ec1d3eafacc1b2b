// Says what programs do that are no agents for code.
import type { Said } from "./conversation.ts";
import type { Habits } from "./habits.ts";

const made = (text: string): Said => ({ uid: null, by: "person", text });
const EXAMPLE = { id: "call_example_k3J9xQ", name: "read", args: { path: "a.txt" } };
const answered = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const EXAMPLES: Record<string, readonly Said[]> = {
  "a greeting": [made("(start)"), answered("Hello! How may I help you with your order today?")],
  "an example": [
    made("Translate: good morning."),
    answered("Guten Morgen, das ist die Übersetzung dieses Satzes ins Deutsche."),
  ],
  "an example with a call": [
    made("What is in a.txt?"),
    { uid: null, by: "model", text: "", calls: [EXAMPLE] },
    { uid: null, by: "tools", results: [{ id: EXAMPLE.id, name: "read", text: "content" }] },
    answered("It says: content. That is an answer of more than forty letters."),
  ],
};
const WIRES = [
  ...(["openai-completions", "openai-responses"] as const),
  ...(["anthropic-messages", "google-generative-ai"] as const),
];

export const PROGRAMS: readonly Habits[] = WIRES.flatMap((api) =>
  [["read", "write"], []].flatMap((tools): Habits[] => {
    const how = `by ${api}${tools.length === 0 ? " without tools" : ""}`;
    const own = { api, head: ["You are the bot of a shop."], tools, before: [] };
    const examples = Object.entries(EXAMPLES).filter(
      ([name]) => !name.endsWith("call") || tools[0],
    );
    return [
      ...examples.map(([name, said]) => ({
        ...{ ...own, name: `a program with ${name} ${how}` },
        examples: said.map((one): Said => ({ ...one, isExample: true })),
      })),
      ...(["before", "behind"] as const).map((looksUp) => ({
        ...{ ...own, name: `a program that looks up ${how}, ${looksUp} the words`, looksUp },
      })),
      ...(tools.length === 0 ? [] : (["kept", "anew"] as const)).map((ownIds) => ({
        ...{ ...own, name: `a program with ids of its own ${how}, ${ownIds}`, ownIds },
      })),
      ...["x-session-id", "thread-id"].map((header) => ({
        ...{ ...own, name: `a program that sends one ${header} for all ${how}` },
        headers: () => ({ "user-agent": "python-httpx/0.28", [header]: "workflow-1" }),
      })),
      ...(tools.length > 0 ? [{ ...own, name: `a program that labels ${how}`, labels: true }] : []),
    ];
  }),
);

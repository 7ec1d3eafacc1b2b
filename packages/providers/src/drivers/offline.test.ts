import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent, ToolDefinition } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { SUMMARY_HEADINGS } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INTRODUCTION, NOT_SHOWN } from "../offline/phrases.ts";
import { completeModel, streamModel } from "../stream.ts";

const model = {
  provider: "offline",
  api: "offline",
  id: "offline",
  contextWindow: 100_000,
  maxOutputTokens: 4000,
};

function call(messages: readonly AgentMessage[], options: Partial<ModelCall> = {}): ModelCall {
  return {
    model,
    systemPrompt: "You are helpful.",
    messages,
    tools: [],
    signal: new AbortController().signal,
    ...options,
  };
}

async function reply(
  messages: readonly AgentMessage[],
  options: Partial<ModelCall> = {},
): Promise<AssistantMessage> {
  const result = await completeModel({
    call: call(messages, options),
    endpoint: { baseUrl: "" },
    now: () => 1000,
  });
  if (!result.ok) throw new Error(result.error.message);
  return result.message;
}

const text = ({ content }: AssistantMessage) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");
const ask = async (messages: readonly AgentMessage[], options: Partial<ModelCall> = {}) =>
  text(await reply(messages, options));

const user = (content: string): AgentMessage => ({ role: "user", content });
const assistant = (words: string): AgentMessage => ({
  role: "assistant",
  content: [{ type: "text", text: words }],
  stopReason: "stop",
});
const calling = (name: string): AgentMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id: "c1", name, arguments: {} }],
  stopReason: "toolUse",
});
const result = (toolName: string, words: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: "c1",
  toolName,
  content: [{ type: "text", text: words }],
  isError: false,
});
const tool = (
  name: string,
  properties: Record<string, { type: string }>,
  required: string[],
): ToolDefinition => ({
  name,
  description: "",
  parameters: { type: "object", properties, required },
});
const SEARCH = tool("memory_search", { query: { type: "string" }, limit: { type: "number" } }, [
  "query",
]);
const CABIN = user("The wifi password of the cabin is heron-42. My bicycle is green.");
const CHATTER = [
  user("Lunch was nice today."),
  assistant("Noted."),
  user("It rained all morning."),
  assistant("Noted."),
];

describe("the offline model, asked a question", () => {
  it("quotes the sentence that answers it, and where it stands", async () => {
    expect(await ask([CABIN, ...CHATTER, user("What is the wifi password of the cabin?")])).toBe(
      "From the person's message: “The wifi password of the cabin is heron-42.”",
    );
  });

  it("finds it in tool results, summaries, notes and earlier replies", async () => {
    const sources: [AgentMessage, string][] = [
      [
        result("read_file", "line one\nThe deploy port is 8443.\nline three"),
        "the result of read_file",
      ],
      [
        { role: "compactionSummary", summary: "## Decisions\n- The deploy port is 8443.\n" },
        "the summary of earlier messages",
      ],
      [
        { role: "custom", customType: "note", content: "The deploy port is 8443." },
        "a note of the host",
      ],
      [assistant("I set it up. The deploy port is 8443."), "an earlier reply"],
    ];
    for (const [message, origin] of sources)
      expect(
        await ask([...CHATTER, message, ...CHATTER, user("Which port is the deploy port?")]),
      ).toBe(`From ${origin}: “The deploy port is 8443.”`);
  });

  it("finds what the same message said before the question", async () => {
    expect(await ask([user("The vault code is 7391. What is the vault code?")])).toContain(
      "“The vault code is 7391.”",
    );
  });

  it("sees through plurals and endings", async () => {
    expect(
      await ask([
        user("I parked the cars at lot C."),
        ...CHATTER,
        user("Where did I park the car?"),
      ]),
    ).toContain("lot C");
    expect(
      await ask([user("We move the meeting to Tuesday."), user("When is the moved meeting?")]),
    ).toContain("Tuesday");
  });

  it("prefers the newest of equal answers", async () => {
    expect(
      await ask([
        user("The release date is May 4."),
        user("The release date is June 9."),
        user("When is the release date?"),
      ]),
    ).toContain("June 9");
  });

  it("finds words in scripts without gaps", async () => {
    expect(
      await ask([
        user("会议改到星期二下午三点。午饭很好吃。"),
        ...CHATTER,
        user("会议改到什么时候？"),
      ]),
    ).toContain("“会议改到星期二下午三点。”");
  });

  it.each([
    ["Der Abgabetermin ist jetzt der 20. Juni.", "Wann ist der Abgabetermin?"],
    ["Meine Katze heißt Mika.", "Wie heißt meine Katze?"],
    ["Мою кошку зовут Мика.", "Как зовут мою кошку?"],
    ["Срок сдачи теперь 20 июня.", "Какой срок сдачи?"],
    ["موعد التسليم الآن 20 يونيو.", "متى موعد التسليم؟"],
    ["اسم قطتي ميكا.", "ما اسم قطتي؟"],
    ["项目截止日期改到六月二十日。", "项目截止日期是哪天?"],
  ])("quotes %s", async (said, question) => {
    expect(await ask([user(said), ...CHATTER, user(question)])).toContain(`“${said}”`);
  });

  it("takes no search that found nothing for an answer because it repeats the question's words", async () => {
    const vain = 'No line of the workspace matches "Abgabetermin".';
    const search: AgentMessage = {
      role: "assistant",
      content: [
        {
          ...{ type: "toolCall", id: "c1", name: "memory_search" },
          arguments: { query: "Abgabetermin" },
        },
      ],
      stopReason: "toolUse",
    };
    const asked = [user("Wann ist der Abgabetermin?"), search, result("memory_search", vain)];
    expect(await ask(asked, { tools: [SEARCH] })).toBe(NOT_SHOWN);
    const known = [user("Der Abgabetermin ist der 14. Juni."), ...CHATTER, ...asked];
    expect(await ask(known, { tools: [SEARCH] })).toContain("14. Juni");
  });

  it("says that it was shown nothing, rather than guess", async () => {
    expect(await ask([...CHATTER, user("What is the wifi password of the cabin?")])).toBe(
      NOT_SHOWN,
    );
    expect(await ask([user("What is the wifi password of the cabin?")])).toBe(NOT_SHOWN);
  });

  it("answers neither from the system prompt nor from other questions nor from its own phrases", async () => {
    const history = [
      user("What is the wifi password of the cabin?"),
      assistant(NOT_SHOWN),
      user("Do you know the wifi password of the cabin?"),
    ];
    expect(
      await ask(history, { systemPrompt: "The wifi password of the cabin is heron-42." }),
    ).toBe(NOT_SHOWN);
    expect(
      await ask([
        user("Anything?"),
        assistant(NOT_SHOWN),
        user("Which language model can answer within my context?"),
      ]),
    ).toBe(NOT_SHOWN);
  });

  it("does not take a question or an echo of it for an answer, however new", async () => {
    const echoes = [
      user("Is the wifi password of the cabin still an old one?"),
      assistant("I will remember the wifi password of the cabin."),
    ];
    expect(
      await ask([CABIN, ...echoes, user("What is the wifi password of the cabin?")]),
    ).toContain("heron-42");
    expect(await ask([...echoes, user("What is the wifi password of the cabin?")])).toBe(NOT_SHOWN);
  });

  it("does not see what is kept out of the context", async () => {
    const output = "The wifi password of the cabin is heron-42.";
    const command = (excludeFromContext: boolean): AgentMessage => ({
      role: "bashExecution",
      command: "cat note",
      output,
      excludeFromContext,
    });
    expect(await ask([command(true), user("What is the wifi password of the cabin?")])).toBe(
      NOT_SHOWN,
    );
    expect(await ask([command(false), user("What is the wifi password of the cabin?")])).toContain(
      "heron-42",
    );
  });

  it("quotes what an earlier quote quoted, never the quote", async () => {
    const quoted = await ask([CABIN, user("What is the wifi password of the cabin?")]);
    expect(await ask([assistant(quoted), user("What was the wifi password of the cabin?")])).toBe(
      "From an earlier reply: “The wifi password of the cabin is heron-42.”",
    );
  });

  it("calls a lookup tool once, then answers from its result or says that it was not shown", async () => {
    const question = user("What is the wifi password of the cabin?");
    const first = await reply([...CHATTER, question], { tools: [SEARCH] });
    expect(first).toMatchObject({
      stopReason: "toolUse",
      content: [
        { type: "toolCall", name: "memory_search", arguments: { query: "wifi password cabin" } },
      ],
    });
    const after = (words: string) =>
      ask([...CHATTER, question, calling("memory_search"), result("memory_search", words)], {
        tools: [SEARCH],
      });
    expect(await after("Found: the wifi password of the cabin is heron-42.")).toContain("heron-42");
    expect(await after("no matches")).toBe(NOT_SHOWN);
  });

  it("calls it anew for another question", async () => {
    const messages = [
      user("Who won the cup?"),
      calling("memory_search"),
      result("memory_search", "none"),
      assistant(NOT_SHOWN),
      user("Who lost the race?"),
    ];
    expect(await reply(messages, { tools: [SEARCH] })).toMatchObject({
      content: [{ type: "toolCall" }],
    });
  });

  it("asks the next tool when the first one found nothing, each once", async () => {
    const tools = [SEARCH, tool("grep_notes", { words: { type: "string" } }, ["words"])];
    const question = [user("What is the wifi password?")];
    const asked = [...question, calling("memory_search"), result("memory_search", "none")];
    expect(await reply(asked, { tools })).toMatchObject({ content: [{ name: "grep_notes" }] });
    const both = [...asked, calling("grep_notes"), result("grep_notes", "none")];
    expect(await ask(both, { tools })).toBe(NOT_SHOWN);
  });

  it("looks up what the first answer names when something was left open", async () => {
    const messages = [user("Which port does the service that Mara keeps use?")];
    const first = result("memory_search", "Mara keeps the service Kestrel.");
    const step = await reply([...messages, calling("memory_search"), first], { tools: [SEARCH] });
    expect(step).toMatchObject({ content: [{ arguments: { query: "Kestrel port" } }] });
    const second = result("memory_search", "The service Kestrel listens on port 4711.");
    const done = [...messages, calling("memory_search"), first, step, second];
    expect(await ask(done, { tools: [SEARCH] })).toContain("port 4711");
  });

  it("takes what was said of another person or day for no answer while it can look further", async () => {
    const other = user("The locker of Ida Berg has the number 12.");
    const question = user("Which number does the locker of Ida Lund have?");
    expect(await reply([other, question], { tools: [SEARCH] })).toMatchObject({
      content: [{ type: "toolCall" }],
    });
    const record = (number: number, day: string, words: string) =>
      `<record id="e${number}" n="${number}" from="person" at="${day} 10:00">\n${words}\n</record>`;
    const days = [
      record(9, "2026-01-07", "The word of the day is plover."),
      record(3, "2026-01-02", "The word of the day is heron."),
    ].join("\n");
    const told = (text: string) =>
      ask([user(text), calling("memory_search"), result("memory_search", days)], {
        tools: [SEARCH],
      });
    expect(await told("What was the word of the day on 2026-01-02?")).toContain("heron");
    expect(await told("What is the word of the day?")).toBe(
      "From person (@e9): “The word of the day is plover.”",
    );
  });

  it("offers what tells of the one who was asked about, where nothing says it in the same words", async () => {
    const found = [
      "Somebody asked reception for a desk, but Ida Lund had not heard of it.",
      "Ida Lund was given locker heron-12 by the front office.",
      "Ida Berg was given locker heron-13 by the front office.",
    ];
    const asked = (question: string) => [
      user(question),
      ...Array.from({ length: 2 }, () => [
        calling("memory_search"),
        result("memory_search", found.join("\n")),
      ]).flat(),
    ];
    const tools = [SEARCH];
    expect(await ask(asked("Which cupboard did reception hand to Ida Lund?"), { tools })).toContain(
      "The closest I was shown is from the result of memory_search: “Ida Lund was given locker heron-12",
    );
    expect(await ask(asked("Which cupboard did the mayor hand to Ole Lund?"), { tools })).toBe(
      NOT_SHOWN,
    );
  });

  it("looks up again what it only knows from an earlier lookup", async () => {
    const old = [
      user("Which locker has Ida Lund?"),
      calling("memory_search"),
      result("memory_search", "The locker of Ida Lund has the number 12."),
      assistant("It was the lookup that said it."),
    ];
    const question = user("What number does the locker of Ida Lund have?");
    expect(await reply([...old, question], { tools: [SEARCH] })).toMatchObject({
      content: [{ type: "toolCall" }],
    });
    expect(await ask([...old, question])).toContain("number 12");
  });

  it("does not look up what it was shown", async () => {
    expect(
      await ask([CABIN, user("What is the wifi password of the cabin?")], { tools: [SEARCH] }),
    ).toContain("heron-42");
  });

  it("uses only lookup tools whose one required parameter is a string, and gives a grep one word", async () => {
    const question = [user("What is the wifi password?")];
    const unfit = [
      tool("search_two", { a: { type: "string" }, b: { type: "string" } }, ["a", "b"]),
      tool("search_number", { a: { type: "number" } }, ["a"]),
      tool("search_none", { a: { type: "string" } }, []),
      tool("read_file", { path: { type: "string" } }, ["path"]),
    ];
    expect(await ask(question, { tools: unfit })).toBe(NOT_SHOWN);
    expect(
      await reply(question, {
        tools: [...unfit, tool("lcm_grep", { pattern: { type: "string" } }, ["pattern"])],
      }),
    ).toMatchObject({
      content: [{ name: "lcm_grep", arguments: { pattern: "password" } }],
    });
  });
});

describe("the offline model, told something else", () => {
  it("acknowledges a statement briefly, and says what it is when asked", async () => {
    expect(await ask([user("I moved the meeting to Tuesday.")])).toBe("Noted.");
    expect(await ask([user("When the build fails, run pnpm clean.")])).toBe("Noted.");
    expect(await ask([user("Who are you?")])).toBe(INTRODUCTION);
    expect(await ask([])).toBe("I was shown no message from a person.");
  });

  it("runs the tool a person names, and gives its answer", async () => {
    const echo = tool("echo", { text: { type: "string" } }, ["text"]);
    const prompt = user('call echo {"text": "hi"}');
    expect(await reply([prompt], { tools: [echo] })).toMatchObject({
      content: [{ name: "echo", arguments: { text: "hi" } }],
    });
    expect(await ask([prompt, calling("echo"), result("echo", "hi")], { tools: [echo] })).toBe(
      "echo answered: hi",
    );
    expect(await ask([prompt])).toBe("Noted.");
  });

  it("summarises a session, keeping what an earlier summary holds", async () => {
    const summary = await ask([
      { role: "compactionSummary", summary: "## Decisions\n- We decided to use SQLite." },
      user("Never touch the file src/legacy.ts."),
      assistant("We agreed to ship on Friday."),
      user("Please summarise our session"),
    ]);
    for (const heading of SUMMARY_HEADINGS) expect(summary).toContain(heading);
    for (const words of ["SQLite", "src/legacy.ts", "ship on Friday"])
      expect(summary).toContain(words);
  });

  it("summarises a conversation given as text, and merges summaries", async () => {
    const conversation =
      "[User]: Deploy to host-7.example.org\n\n[Assistant]: Going with blue-green.\n\n[Tool result]: ok";
    const summariser = { systemPrompt: "You summarise conversations. Output only the structure." };
    const prompt = `<conversation>\n${conversation}\n</conversation>\n<previous-summary>\n## Decisions\n- We chose Rust.\n</previous-summary>\nUse these headings.`;
    const first = await ask([user(prompt)], summariser);
    for (const words of ["host-7.example.org", "blue-green", "We chose Rust"])
      expect(first).toContain(words);
    const merged = await ask(
      [user(`<conversation>\n[User]: [Chunk 1]\n${first}\n</conversation>`)],
      summariser,
    );
    for (const words of ["host-7.example.org", "blue-green", "We chose Rust"])
      expect(merged).toContain(words);
    expect(merged.split(SUMMARY_HEADINGS[0])).toHaveLength(2);
    expect(await ask([user("We decided to use Go.\n\nThe port is 8443.")], summariser)).toContain(
      "We decided to use Go",
    );
  });

  it("keeps a summary within the tokens asked for", async () => {
    const long = Array.from({ length: 200 }, (_, index) =>
      user(`We decided to keep item number ${index} of the long list.`),
    );
    const message = await reply([...long, user("summarize")], { maxOutputTokens: 300 });
    expect(message.stopReason).toBe("stop");
    expect(estimateText(text(message)).estimate).toBeLessThanOrEqual(300);
  });
});

describe("the offline model as a provider", () => {
  it("streams, and the same call gives the same events", async () => {
    const events = async () => {
      const gathered: StreamEvent[] = [];
      for await (const event of streamModel({
        call: call([CABIN, user("Which bicycle is green?")]),
        endpoint: { baseUrl: "" },
        now: () => 1,
      }))
        gathered.push(event);
      return gathered;
    };
    const first = await events();
    expect(first.filter(({ type }) => type === "text").length).toBeGreaterThan(3);
    expect(await events()).toEqual(first);
  });

  it("bills tokens and refuses what exceeds the window, with its count", async () => {
    expect((await reply([CABIN])).usage).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
    const small = { model: { ...model, contextWindow: 30 } };
    const failed = await completeModel({
      call: call([CABIN, ...CHATTER, user("So?")], small),
      endpoint: { baseUrl: "" },
    });
    expect(failed).toMatchObject({
      ok: false,
      error: { kind: "overflow", observedTokens: expect.any(Number) },
    });
    const observed =
      !failed.ok && failed.error.kind === "overflow" ? (failed.error.observedTokens ?? 0) : 0;
    const fits = { model: { ...model, contextWindow: observed } };
    expect((await reply([CABIN, ...CHATTER, user("So?")], fits)).usage?.input).toBe(observed);
  });

  it("stops at the output limit and says so", async () => {
    const message = await reply([user("Who are you?")], { maxOutputTokens: 5 });
    expect(message.stopReason).toBe("length");
    expect(INTRODUCTION.startsWith(text(message))).toBe(true);
  });

  it("stops when aborted, with what it had said", async () => {
    const controller = new AbortController();
    const events: StreamEvent[] = [];
    const streamed = streamModel({
      call: call([user("Who are you?")], { signal: controller.signal }),
      endpoint: { baseUrl: "" },
    });
    for await (const event of streamed) {
      events.push(event);
      if (events.length === 2) controller.abort();
    }
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "aborted" },
      partial: { stopReason: "aborted", content: [{ text: "I am " }] },
    });
  });

  it("ends every call with one final event, whatever it is shown, and never changes it", async () => {
    const anyMessage = fc.oneof(
      fc.string({ unit: "grapheme" }).map(user),
      fc.string().map(assistant),
      fc.string().map((words) => result("grep", words)),
      fc.string().map((summary): AgentMessage => ({ role: "compactionSummary", summary })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMessage, { maxLength: 8 }),
        fc.boolean(),
        async (messages, asks) => {
          const shown = asks ? [...messages, user("What is it?")] : messages;
          const before = structuredClone(shown);
          const message = await reply(shown, { tools: [SEARCH] });
          expect(["stop", "toolUse"]).toContain(message.stopReason);
          expect(shown).toEqual(before);
        },
      ),
    );
  });
});

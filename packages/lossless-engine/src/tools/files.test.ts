import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchTextOf } from "../messages/search-text.ts";
import {
  otherSession,
  quotedIn,
  saidIn,
  session,
  setUpRecall,
  WORKSPACE,
} from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";

const PATH = "src/harbour/tide.ts";
const long = (word: string) => `export const tide = "${word}";\n`.repeat(400);

/** Call ids recur, as models that count their calls in each message give them. */
const read = (path: string, text: string, more: object = {}): AgentMessage[] => {
  const call = toolCall("read", { path, ...more }, "read:1");
  return [assistant([call]), toolResult(call, text)];
};
const write = (path: string, content: string): AgentMessage[] => {
  const call = toolCall("write_file", { path, content }, "write:1");
  return [assistant([call]), toolResult(call, "written")];
};

const work: AgentMessage[] = [
  user("look at the tide"),
  ...read(PATH, long("low")),
  user("and again"),
  ...read(PATH, long("low")),
  ...read("docs/tide.ts", "another file"),
  user("change it"),
  ...write(PATH, long("high")),
  user("a part of it"),
  ...read(PATH, "only a line", { offset: 3, limit: 1 }),
];

async function setUp(compress = false) {
  const recall = setUpRecall(undefined, undefined, compress);
  await recall.tell(work);
  return recall;
}

describe("a file by its path", () => {
  it("is shown as it was at any turn, and as it was last", async () => {
    const { call } = await setUp();
    const at = (turn?: number) =>
      call("lcm_describe", { id: PATH, ...(turn !== undefined && { turn }) });
    expect(await at()).toContain(`Version 2 of 2, from #10, turn 3:\n<stored `);
    expect(quotedIn(await at())).toEqual([long("high")]);
    expect(await at(2)).toContain(`Version 1 of 2 at turn 2, from #6, turn 2:\n<stored `);
    expect(quotedIn(await at(2))).toEqual([long("low")]);
    expect(await at(1)).toContain("Version 1 of 2 at turn 1, from #3, turn 1:");
    expect(await at(0)).toMatch(/Its whole text at turn 0 is not kept/);
    expect(await at()).toMatch(
      /^src\/harbour\/tide\.ts · named by 4 calls · 2 texts kept\n#14 · turn 4 · read · 11 characters, 1 lines · a part/,
    );
  });

  it("is a part where a result says that it is cut, and where a range was asked for", async () => {
    const parts: AgentMessage[][] = [
      read(PATH, `${long("low")}\n… cut; continue with from_line 824.`),
      read(PATH, `${long("low")}\n[Showing lines 1-400 of 9000. Use offset=401 to continue.]`),
      read(PATH, long("low"), { startLine: 3 }),
      read(PATH, long("low"), { line_range: [3, 9] }),
    ];
    for (const part of parts) {
      const { tell, call } = setUpRecall();
      await tell([user("look"), ...part]);
      const told = await call("lcm_describe", { id: PATH });
      expect(told).toContain("lines · a part");
      expect(told).toContain("0 texts kept");
      expect(told).toMatch(/Its whole text is not kept: .* Parts of it are in #3\.$/);
      const later = setUpRecall();
      await later.tell([user("look"), ...read(PATH, long("high")), ...part]);
      expect(quotedIn(await later.call("lcm_describe", { id: PATH }))).toEqual([long("high")]);
    }
  });

  it("is whole where it speaks of cutting, and its reader does not", async () => {
    const text = `${long("low")}Cut the rope here; continue with the limit.`;
    const { tell, call } = setUpRecall();
    await tell([user("look"), ...read(PATH, text)]);
    expect(quotedIn(await call("lcm_describe", { id: PATH }))).toEqual([text]);
  });

  it("is known by a result that came long after its call, among those of many others", async () => {
    const { tell, call } = setUpRecall();
    const call1 = toolCall("read", { path: PATH }, "slow");
    const others = Array.from({ length: 12 }, (_, at) =>
      read(`other${at}.ts`, `text ${at}`),
    ).flat();
    await tell([user("look"), assistant([call1]), ...others, toolResult(call1, "it came at last")]);
    expect(await call("lcm_describe", { id: PATH })).toContain("it came at last");
  });

  it("is found by the end of its path, and asked for again where several end so", async () => {
    const { call, tell } = await setUp();
    expect(await call("lcm_describe", { id: "harbour/tide.ts" })).toContain("Version 2 of 2");
    expect(await call("lcm_describe", { id: "tide.ts" })).toBe(
      "Several files end so; name one: src/harbour/tide.ts, docs/tide.ts.",
    );
    expect(await call("lcm_describe", { id: "ide.ts" })).toMatch(/^There is no message or file/);
    await tell([user("hello")], otherSession, "o");
    expect(await call("lcm_describe", { id: PATH }, otherSession)).toMatch(/^There is no message/);
  });

  it("is one file however its path is spelled, and is shown as the session was last shown it", async () => {
    const { tell, call } = setUpRecall();
    const name = `${WORKSPACE}/conf.yaml`;
    await tell([
      user("first"),
      ...read(name, "version: 1"),
      user("second"),
      ...read("conf.yaml", "version: 2"),
      user("third"),
      ...read("./conf.yaml", "version: 3"),
      user("fourth"),
      ...write("docs/../conf.yaml", "version: 4"),
    ]);
    for (const id of [name, "conf.yaml", "./conf.yaml", "./docs//../conf.yaml", `file://${name}`])
      for (const turn of [1, 2, 3, 4]) {
        const shown = await call("lcm_describe", { id, turn });
        expect(shown).toMatch(/^conf\.yaml · named by 4 calls · 4 texts kept/);
        expect(shown).toContain(`Version ${turn} of 4 at turn ${turn}, from `);
        expect(quotedIn(shown)).toEqual([`version: ${turn}`]);
      }
  });

  it("is had by its own path where others end so", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("look"),
      ...read("src/a.ts", "mine"),
      ...read("./src/a.ts", "mine too"),
      ...read("other/src/a.ts", "another's"),
    ]);
    const shown = async (id: string) => quotedIn(await call("lcm_describe", { id }));
    expect(await shown("src/a.ts")).toEqual(["mine too"]);
    expect(await shown(`${WORKSPACE}/src/a.ts`)).toEqual(["mine too"]);
    expect(await shown("other/src/a.ts")).toEqual(["another's"]);
    expect(await call("lcm_describe", { id: "a.ts" })).toBe(
      "Several files end so; name one: src/a.ts, other/src/a.ts.",
    );
  });

  it("is shown at a turn of the session as it is now, also where it was named before a reset", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("a"), user("b"), user("c"), ...read("x.md", "before the reset")]);
    const after = { ...session, sessionId: "s9" };
    await tell([user("new"), user("newer"), ...read("x.md", "after it")], after, "n");
    const at = async (turn: number) =>
      quotedIn(await call("lcm_describe", { id: "x.md", turn }, after));
    expect(await at(1)).toEqual(["before the reset"]);
    expect(await at(2)).toEqual(["after it"]);
  });

  it("says which changes nobody saw the outcome of, and passes over calls that failed", async () => {
    const { tell, call } = await setUp();
    const edit = toolCall("edit", { path: PATH, oldText: "high", newText: "slack" }, "edit:1");
    const failed = toolCall("read", { path: PATH }, "read:1");
    await tell(
      [
        user("edit it"),
        assistant([edit]),
        toolResult(edit, "ok"),
        assistant([failed]),
        toolResult(failed, "no such file", { isError: true }),
      ],
      session,
      "later",
    );
    expect(await call("lcm_describe", { id: PATH })).toContain(
      "Version 2 of 2, from #10, turn 3; changed since, in #16:",
    );
  });

  it("is shown by lines, and without its text", async () => {
    const { call } = await setUp();
    const lines = await call("lcm_describe", { id: PATH, fromLine: 2, toLine: 3 });
    expect(quotedIn(lines)).toEqual(['export const tide = "high";\n'.repeat(2)]);
    expect(lines).toMatch(/>\nCharacters 28 to 84 of 11200\.$/);
    const about = await call("lcm_describe", { id: PATH, expandFile: false });
    expect(about).not.toContain("export const");
    const capped = await call("lcm_describe", { id: PATH, tokenCap: 100 });
    expect(capped).toMatch(
      /Characters 0 to 300 of 11200; to go on: \{"id":"src\/harbour\/tide.ts","offset":300\}\.$/,
    );
  });
});

describe("a long text", () => {
  it("is shown in as many characters as are asked for, up to more than a page, and goes on there", async () => {
    const { tell, call } = setUpRecall();
    const text = Array.from({ length: 6_000 }, (_, line) => `line ${line} of it`).join("\n");
    await tell([user("read it"), ...read("src/long.ts", text)]);
    const [, fileId] = /(file_\w+)/.exec(await call("lcm_describe", { id: "#3" }))!;
    for (const id of ["src/long.ts", fileId!]) {
      const shown = async (more: object) => {
        const answer = await call("lcm_describe", { id, ...more });
        return { answer, text: quotedIn(answer)[0] };
      };
      expect((await shown({})).text).toBe(text.slice(0, 32_768));
      const { answer, text: first } = await shown({ expandFileMaxBytes: 100 });
      expect(first).toBe(text.slice(0, 100));
      const rest = JSON.parse(/to go on: (\{.*\})\.$/.exec(answer)![1]!);
      expect((await shown({ ...rest, expandFileMaxBytes: 50 })).text).toBe(text.slice(100, 150));
      expect((await shown({ expandFileMaxBytes: 60_000 })).text).toBe(text.slice(0, 60_000));
      expect((await shown({ expandFileMaxBytes: 200_000 })).text).toBe(text);
    }
  });

  it("is kept once, has an id that its messages name, and says which messages hold it", async () => {
    const { call, tell } = await setUp();
    const [id] = /file_[0-9a-f]{16}/.exec(await call("lcm_describe", { id: "#3" })) ?? [];
    expect(await call("lcm_describe", { id: "#6" })).toContain(id);
    const shown = await call("lcm_describe", { id: `see [${id}]` });
    expect(saidIn(shown)).toBe(`${id} · 10800 characters, 401 lines · in #3, #6\n[…]`);
    expect(quotedIn(shown)).toEqual([long("low")]);
    await tell([user("hello")], otherSession, "o");
    expect(await call("lcm_describe", { id }, otherSession)).toMatch(/^There is no message/);
  });

  it("is searched alone where lcm_grep is told so", async () => {
    const { call, tell } = await setUp();
    await tell([user("the tide is low")], session, "more");
    const found = async (more: object) =>
      [...(await call("lcm_grep", { pattern: "low", ...more })).matchAll(/^#(\d+) ·/gm)].map(
        ([, seq]) => Number(seq),
      );
    expect(await found({})).toEqual([15, 6, 3]);
    expect(await found({ scope: "both" })).toEqual([15, 6, 3]);
    expect(await found({ scope: "files" })).toEqual([6, 3]);
    const [id] = /file_[0-9a-f]{16}/.exec(await call("lcm_describe", { id: "#10" })) ?? [];
    expect(await found({ fileIds: [id] })).toEqual([]);
    expect(await call("lcm_grep", { pattern: "high", fileIds: [id] })).toMatch(/^1 found/);
    expect(await call("lcm_grep", { pattern: "x", scope: "summaries" })).toMatch(/^No summary/);
  });

  it("and a short one are found by what lcm_describe names, and what is unknown is said so", async () => {
    const { call, tell } = setUpRecall();
    await tell([user("read it"), ...read("conf.yaml", "value-1-7: yes"), user("value-1-7?")]);
    expect(await call("lcm_describe", { id: "conf.yaml" })).not.toContain("file_");
    const asked = { pattern: "value-1-7" };
    for (const more of [{ fileIds: ["conf.yaml"] }, { fileIds: [`${WORKSPACE}/conf.yaml`] }])
      expect(await call("lcm_grep", { ...asked, ...more })).toMatch(/^1 found[\s\S]*\n#3 ·/);
    expect(await call("lcm_grep", { ...asked, scope: "files" })).toMatch(/^1 found[\s\S]*\n#3 ·/);
    for (const id of ["file_nope", "file_0123456789abcdef", "nowhere.yaml"])
      expect(await call("lcm_grep", { ...asked, fileIds: [id] })).toMatch(
        `There is no file ${id} here`,
      );
  });
});

describe("lcm_grep by relevance", () => {
  const told = [
    user("the ferry leaves at nine"),
    ...Array.from({ length: 30 }, (_, index) => user(`the weather today is fine, note ${index}`)),
    user("the captain of the ferry is called Aino"),
    ...Array.from({ length: 30 }, (_, index) => user(`the weather was fine, entry ${index}`)),
  ];

  it("puts first what holds most of the words, the rare ones above all", async () => {
    const { tell, call } = setUpRecall();
    await tell(told);
    const asked = { pattern: "captain of the ferry, weather", sort: "relevance", limit: 2 };
    const first = await call("lcm_grep", asked);
    expect(first).toMatch(
      /^2 found, best first\. Of 62 messages 62 were compared\. For more add skip: 2, olderThan: \d+\./,
    );
    expect(first).toMatch(/called Aino[\s\S]*(leaves at nine|weather)/);
    const second = await call("lcm_grep", { ...asked, skip: 2 });
    expect(second).not.toContain("Aino");
    expect(second).toContain("weather");
  });

  it("prefers the newer of two that hold as much when it is told so", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("the ferry leaves at nine"),
      ...told.slice(1),
      user("the ferry leaves at ten"),
    ]);
    const hybrid = await call("lcm_grep", { pattern: "ferry leaves", sort: "hybrid" });
    expect(hybrid.indexOf("at ten")).toBeLessThan(hybrid.indexOf("at nine"));
  });
});

describe("every byte that was told", () => {
  const texts = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc
      .tuple(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 }), fc.nat(6_000))
      .map(([piece, times]) => piece.repeat(times)),
  );
  const messages = fc.array(
    fc.oneof(
      texts.map((text) => user(text)),
      fc
        .tuple(texts, texts)
        .map(([text, hidden]) => toolResult(toolCall("run"), text, { details: { hidden } })),
    ),
    { minLength: 1, maxLength: 5 },
  );

  it.each([false, true])(
    "is had back within two calls for each 32 KB, compressed: %s",
    async (compress) => {
      await fc.assert(
        fc.asyncProperty(
          messages,
          fc.double({ min: 0, max: 1, noNaN: true }),
          async (given, at) => {
            const { tell, call } = setUpRecall(undefined, undefined, compress);
            await tell(given);
            for (const [index, message] of withIds(given).entries())
              for (const raw of [true, false]) {
                const whole = raw ? JSON.stringify(message) : searchTextOf(message);
                const place = Math.floor(at * whole.length);
                // Nobody is sent to the second half of a character.
                const start = /[\uDC00-\uDFFF]/.test(whole[place] ?? "") ? place - 1 : place;
                const slice = Buffer.from(whole.slice(start)).subarray(0, 32_768).toString();
                const wanted = slice.replace(/\uFFFD$/, "");
                let seen = "";
                for (let calls = 0; calls < 2 && seen.length < wanted.length; calls++) {
                  const offset = start + seen.length;
                  const page = await call("lcm_describe", { id: `#${index + 1}`, raw, offset });
                  seen += quotedIn(page)[0] ?? "";
                }
                expect(seen.startsWith(wanted) || wanted === "").toBe(true);
              }
          },
        ),
        { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
      );
    },
  );
});

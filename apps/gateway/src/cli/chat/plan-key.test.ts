import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { graphemes } from "../../terminal/styled.ts";
import {
  anyCharacter,
  anySign,
  approvalOf,
  paste,
  press,
  ready,
  text,
  typed,
  working,
} from "../../testing/chat-keys.ts";
import { historyOf } from "./history.ts";
import type { Key, KeyName } from "./key.ts";

const ENTER = press("enter");
const CTRL_C = press("interrupt");

const sentBy = (effects: ReturnType<typeof typed>["effects"]) =>
  effects.flatMap((effect) => (effect.kind === "send" ? [effect.sent.text] : []));

describe("a message", () => {
  it("is what stands in the line when Enter is pressed, and the line is empty then", () => {
    const { state, effects } = typed(ready(), text("hello"), ENTER);
    expect(sentBy(effects)).toEqual(["hello"]);
    expect(state.draft).toEqual({ text: "", cursor: 0 });
    expect(state.sent.map((sent) => sent.text)).toEqual(["hello"]);
  });

  it("of many lines is one message, whether pasted, typed with Alt-Enter or with a backslash", () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n");
    expect(sentBy(typed(ready(), paste(lines), ENTER).effects)).toEqual([lines]);
    expect(sentBy(typed(ready(), text("a"), press("newline"), text("b"), ENTER).effects)).toEqual([
      "a\nb",
    ]);
    expect(sentBy(typed(ready(), text("a\\"), ENTER, text("b"), ENTER).effects)).toEqual(["a\nb"]);
    expect(sentBy(typed(ready(), text("C:\\\\"), ENTER).effects)).toEqual(["C:\\\\"]);
  });

  it("loses what could steer a terminal, and keeps tabs and line ends", () => {
    const { state } = typed(ready(), paste("a\u001b[2Jb\u0007c\u202ed\te\r\nf\u0000"));
    expect(state.draft.text).toBe("abcd\te\nf");
  });

  it("that is blank is not sent", () => {
    expect(typed(ready(), text("  "), ENTER).effects).toEqual([]);
  });

  it("waits until the session is open", () => {
    const { state, effects } = typed(ready({ isReady: false }), text("early"), ENTER);
    expect(sentBy(effects)).toEqual([]);
    expect(state.sent).toEqual([{ id: 0, text: "early" }]);
  });

  it("can be written while a reply is, and stays apart from it", () => {
    const { state, effects } = typed(working(), text("next"));
    expect(effects).toEqual([]);
    expect(state.draft.text).toBe("next");
  });
});

describe("/session without a name", () => {
  it("says which session this is, and is said to nobody", () => {
    const { state, effects } = typed(ready(), text("/session "), ENTER);
    expect(effects.map(({ kind }) => kind)).toEqual([]);
    expect(state.hint).toMatch(/^This is session .*"\/session NAME" goes on in another/);
    expect(state.draft.text).toBe("");
  });
});

describe("Ctrl-C", () => {
  it("clears the line, then asks, then leaves", () => {
    const cleared = typed(ready(), text("delete everything"), CTRL_C);
    expect(cleared.state.draft.text).toBe("");
    expect(cleared.effects).toEqual([]);
    const asked = typed(cleared.state, CTRL_C);
    expect(asked.effects).toEqual([]);
    expect(asked.state.hint).toContain("Ctrl-C once more leaves");
    expect(typed(asked.state, CTRL_C).effects).toEqual([{ kind: "quit" }]);
  });

  it("asks again after any other key", () => {
    const { effects } = typed(ready(), CTRL_C, text("a"), press("backspace"), CTRL_C);
    expect(effects).toEqual([]);
  });

  it("leaves nothing of a cleared line in front of the next one", () => {
    const { effects } = typed(ready(), text("delete everything"), CTRL_C, text("hello"), ENTER);
    expect(sentBy(effects)).toEqual(["hello"]);
  });

  it("cancels a reply when the line is empty, as Esc does always", () => {
    expect(typed(working(), CTRL_C).effects).toEqual([{ kind: "cancel" }]);
    expect(typed(working(), text("a"), press("escape")).effects).toEqual([{ kind: "cancel" }]);
    expect(typed(ready(), press("escape")).effects).toEqual([]);
  });

  it("has what it cleared put back by Ctrl-Y", () => {
    expect(typed(ready(), text("a b"), CTRL_C, press("put-back")).state.draft.text).toBe("a b");
  });
});

describe("Ctrl-D", () => {
  it("leaves an empty line and takes a character off another", () => {
    expect(typed(ready(), press("end-of-input")).effects).toEqual([{ kind: "quit" }]);
    const { state, effects } = typed(ready(), text("ab"), press("home"), press("end-of-input"));
    expect([state.draft.text, effects]).toEqual(["b", []]);
  });
});

describe("the history", () => {
  const old = { history: historyOf(["first", "second\nline", "third"]) };

  it("is gone through with the arrows, and brings back what was being written", () => {
    const up = typed(ready(old), text("dra"), press("up"));
    expect(up.state.draft.text).toBe("third");
    const twice = typed(up.state, press("up"));
    expect(twice.state.draft.text).toBe("second\nline");
    // Within a text of several lines the arrows move the cursor first.
    const inside = typed(twice.state, press("up"), press("up"));
    expect(inside.state.draft.text).toBe("first");
    expect(
      typed(inside.state, press("down"), press("down"), press("down"), press("down")).state.draft
        .text,
    ).toBe("dra");
  });

  it("is searched with Ctrl-R, and what is found is looked at before it is sent", () => {
    const found = typed(ready(old), press("search"), text("LIN"), ENTER);
    expect(found.effects).toEqual([]);
    expect(found.state.draft.text).toBe("second\nline");
    expect(sentBy(typed(found.state, ENTER).effects)).toEqual(["second\nline"]);
    expect(
      typed(ready(old), press("search"), text("ir"), press("search"), ENTER).state.draft.text,
    ).toBe("first");
    expect(typed(ready(old), press("search"), text("ir"), press("escape")).state.draft.text).toBe(
      "",
    );
  });

  it("remembers what is sent, but nothing twice in a row or that begins with a space", () => {
    const remembered = (line: string) =>
      typed(ready(old), text(line), ENTER).effects.filter(({ kind }) => kind === "remember");
    expect(remembered("fourth")).toEqual([{ kind: "remember", text: "fourth" }]);
    expect(remembered("third")).toEqual([]);
    expect(remembered(" secret")).toEqual([]);
  });
});

describe("a question of a tool", () => {
  const asked = (mayBeAnswered: boolean) => ({
    approvals: [{ approval: approvalOf(), mayBeAnswered }],
  });

  it.each([
    ["y", "once"],
    ["Session", "session"],
    ["no", "no"],
  ])("takes %s for %s", (word, answer) => {
    const { effects, state } = typed(working(asked(true)), text(word), ENTER);
    expect(effects).toEqual([{ kind: "answer", approval: approvalOf(), answer }]);
    expect(state.sent).toEqual([]);
  });

  it("takes nothing for an answer that was begun before it came", () => {
    const before = typed(working(), text("y")).state;
    const { effects } = typed({ ...before, ...asked(false) }, ENTER);
    expect(sentBy(effects)).toEqual(["y"]);
    const emptied = typed({ ...before, ...asked(false) }, press("backspace"), text("y"), ENTER);
    expect(emptied.effects).toMatchObject([{ kind: "answer", answer: "once" }]);
    const sent = typed({ ...before, ...asked(false) }, ENTER, text("n"), ENTER);
    expect(sent.effects.at(-1)).toMatchObject({ kind: "answer", answer: "no" });
  });

  it("takes anything else for a message", () => {
    expect(sentBy(typed(working(asked(true)), text("yes please"), ENTER).effects)).toEqual([
      "yes please",
    ]);
  });
});

describe("commands of the terminal", () => {
  it("edit, move and leave, and send nothing", () => {
    const kinds = (line: string) => typed(ready(), text(line), ENTER).effects.at(-1);
    expect(kinds("/edit some words")).toEqual({ kind: "edit", text: "some words" });
    expect(kinds("/session other")).toEqual({ kind: "move", session: "other" });
    expect(kinds("/quit")).toEqual({ kind: "quit" });
    expect(kinds("/status")).toMatchObject({ kind: "send", sent: { text: "/status" } });
  });
});

describe("a choice", () => {
  const menu = {
    menu: {
      options: [{ text: "/status" }, { text: "/stop" }],
      chosen: null,
      from: 0,
      draft: { text: "/st", cursor: 3 },
    },
    draft: { text: "/st", cursor: 3 },
  };

  it("is gone through with Tab and the arrows, taken by Enter and given up by Esc", () => {
    const once = typed(ready(menu), press("tab"));
    expect(once.state.draft.text).toBe("/status");
    const next = typed(once.state, press("down"));
    expect(next.state.draft.text).toBe("/stop");
    expect(typed(next.state, ENTER)).toMatchObject({ state: { menu: null }, effects: [] });
    expect(typed(next.state, press("escape")).state.draft.text).toBe("/st");
  });

  it("is over once something else is typed", () => {
    expect(typed(ready(menu), text("a")).state.menu).toBeNull();
  });
});

const NAMES: KeyName[] = [
  ...(["enter", "newline", "tab", "shift-tab", "escape", "backspace", "delete", "up"] as const),
  ...(["down", "left", "right", "home", "end", "word-left", "word-right", "cut-word"] as const),
  ...(["cut-next-word", "cut-to-start", "cut-to-end", "put-back", "interrupt", "search"] as const),
  ...(["start", "finish", "end-of-input"] as const),
];

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.string({ unit: anySign, maxLength: 12 }),
  fc.constantFrom("漢字", "👩‍👧", "e\u0301", "\u0301", "🇩🇪🇫🇷", "a\tb", "שלום"),
);

const anyKey: fc.Arbitrary<Key> = fc.oneof(
  anyText.map(text),
  anyText.map(paste),
  fc.constantFrom(...NAMES).map(press),
);

describe("any keys", () => {
  it("go from word to word without stopping inside of a character", () => {
    const { state } = typed(ready(), text("0\u0301 "), press("word-left"));
    expect(state.draft.cursor).toBe(0);
    expect(typed(state, press("word-right")).state.draft.cursor).toBe(2);
  });

  it("leave the cursor between two characters, and no control characters in the line", () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 40 }), (keys) => {
        const { state } = typed(ready({ history: historyOf(["one", "two\nthree"]) }), ...keys);
        const { text: written, cursor } = state.draft;
        expect(written).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        const places = new Set([0]);
        let at = 0;
        for (const line of written.split("\n")) {
          for (const each of graphemes(line)) {
            at += each.length;
            places.add(at);
          }
          at++;
          places.add(at);
        }
        places.delete(at);
        places.add(written.length);
        expect(places.has(cursor)).toBe(true);
      }),
    );
  });

  it("that empty the line leave every question open to an answer", () => {
    fc.assert(
      fc.property(fc.array(anyKey, { minLength: 1, maxLength: 20 }), (keys) => {
        const approvals = [{ approval: approvalOf(), mayBeAnswered: false }];
        const before = working({ draft: { text: "y", cursor: 1 }, approvals });
        const { state } = typed(before, ...keys);
        if (state.draft.text === "") expect(state.approvals[0]!.mayBeAnswered).toBe(true);
      }),
    );
  });
});

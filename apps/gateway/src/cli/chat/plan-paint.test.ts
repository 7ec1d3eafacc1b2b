import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Line, lineWidth, textOfLine } from "../../terminal/styled.ts";
import { anyCharacter, anySign, approvalOf, ready, working } from "../../testing/chat-keys.ts";
import { virtualTerminal } from "../../testing/virtual-terminal.ts";
import { historyOf } from "./history.ts";
import { afterResize, NOTHING_PAINTED, planPaint } from "./plan-paint.ts";
import { renderScreen, type Screen } from "./render-screen.ts";
import type { ChatState } from "./state.ts";
import { createView } from "./view.ts";

const line = (text: string): Line => [{ text, style: "dim" }];

describe("what is painted", () => {
  it("is what the screen says, below all that was printed, whatever was there before", () => {
    const anyLine = fc
      .string({ unit: fc.constantFrom("a", "b", " ", "漢"), maxLength: 10 })
      .map(line);
    const anyScreen = fc.array(anyLine, { minLength: 1, maxLength: 6 }).chain((lines) =>
      fc.record({
        lines: fc.constant(lines),
        cursor: fc.record({ row: fc.nat(lines.length - 1), column: fc.nat(9) }),
        isWhole: fc.constant(false),
      }),
    );
    const anyPaint = fc.record({
      printed: fc.array(anyLine, { maxLength: 12 }),
      screen: anyScreen,
    });
    fc.assert(
      fc.property(fc.array(anyPaint, { minLength: 1, maxLength: 12 }), (paints) => {
        const terminal = virtualTerminal(8);
        let before = NOTHING_PAINTED;
        const printed: string[] = [];
        for (const paint of paints) {
          const { bytes, painted } = planPaint({ before, ...paint, hasColours: true });
          terminal.write(bytes);
          before = painted;
          printed.push(...paint.printed.map(textOfLine));
          const shown = [...printed, ...paint.screen.lines.map(textOfLine)].map((row) =>
            row.trimEnd(),
          );
          while (shown.at(-1) === "") shown.pop();
          expect(terminal.rows()).toEqual(shown);
          const { cursor } = paint.screen;
          expect(terminal.cursor()).toEqual({ ...cursor, row: printed.length + cursor.row });
        }
      }),
    );
  });

  it("is nothing when nothing changed, and one row when one did", () => {
    const screen: Screen = {
      ...{
        lines: [line("a"), line("b"), line("c")],
        cursor: { row: 1, column: 1 },
        isWhole: false,
      },
    };
    const first = planPaint({ before: NOTHING_PAINTED, printed: [], screen, hasColours: false });
    const again = { before: first.painted, printed: [], hasColours: false };
    expect(planPaint({ ...again, screen }).bytes).toBe("");
    const { bytes } = planPaint({
      ...again,
      screen: { ...screen, lines: [line("a"), line("b"), line("d")] },
    });
    expect(bytes).not.toContain("b");
    expect(bytes).toContain("d");
  });

  describe("after the terminal broke its rows anew", () => {
    const written = (texts: readonly string[], cursor: { row: number; column: number }) => {
      const screen = { lines: texts.map(line), cursor, isWhole: false };
      return planPaint({ before: NOTHING_PAINTED, printed: [], screen, hasColours: false }).painted;
    };

    it("is found again", () => {
      const painted = written(["a".repeat(79), "b", "c".repeat(45)], { row: 2, column: 41 });
      expect(afterResize(painted, 40)).toMatchObject({ cursor: { row: 4 }, isBroken: true });
      expect(afterResize(painted, 40).rows).toHaveLength(5);
    });

    it("counts that a wide character goes on as a whole", () => {
      const painted = written([`> ${"漢".repeat(38)}`, "b"], { row: 0, column: 78 });
      expect(afterResize(painted, 39).rows).toHaveLength(4);
      expect(afterResize(painted, 39).cursor).toMatchObject({ row: 2 });
    });

    it("is in its last row where that is just full", () => {
      const painted = written(["a".repeat(80)], { row: 0, column: 80 });
      expect(afterResize(painted, 40)).toMatchObject({ cursor: { row: 1 }, rows: { length: 2 } });
    });

    it("is found after any number of widths, though nothing was painted meanwhile", () => {
      const painted = written(["a".repeat(79), "b"], { row: 1, column: 1 });
      const back = [40, 20, 80].reduce(afterResize, painted);
      expect(back).toMatchObject({ cursor: { row: 1 }, rows: { length: 2 } });
    });

    it("clears each row that went on in the next before it is written", () => {
      const painted = written(["a".repeat(79), "b"], { row: 1, column: 1 });
      const screen = {
        lines: [line("a"), line("b")],
        cursor: { row: 1, column: 1 },
        isWhole: false,
      };
      const before = afterResize(painted, 40);
      const { bytes } = planPaint({ before, printed: [], screen, hasColours: false });
      expect(bytes.match(/\u001b\[2K/g)).toHaveLength(3);
      expect(bytes.lastIndexOf("\u001b[2K")).toBeLessThan(bytes.indexOf("a"));
    });
  });
});

describe("the screen", () => {
  const words = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.string({ unit: anySign, maxLength: 60 }),
    fc.constantFrom("漢".repeat(50), "👩‍👧".repeat(20), "a\n".repeat(40), "\t".repeat(9)),
  );
  const anyState: fc.Arbitrary<ChatState> = fc
    .record({
      draft: words,
      said: words,
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      kind: fc.nat(6),
    })
    .map(({ draft: written, said, at, kind }) => {
      const text = written.toWellFormed().replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
      const draft = { text, cursor: Math.floor(at * text.length) };
      const menu = { options: [{ text: said, about: said }, { text }], chosen: 1, from: 0, draft };
      const approvals = [
        { approval: approvalOf({ name: said, arguments: { said } }), mayBeAnswered: true },
      ];
      const status = {
        ...{ model: said, engine: said, context: { tokens: 5, highWater: 10 } },
        ...{ fromCache: 0.5, cost: said, turnMs: 1200 },
      };
      const sent = [1, 2, 3, 4].map((id) => ({ id, text: said }));
      const arriving = working().conversation;
      const turn = { ...arriving.turn!, reply: { fence: null, rows: [], rest: said, whole: said } };
      const all = { draft, status, hint: said };
      const person = { kind: "person" as const, id: "1", text: said, images: 0 };
      const parts = [
        { kind: "thinking" as const, text: said },
        { kind: "text" as const, text: said },
      ];
      const reply = { kind: "reply" as const, id: "2", parts, ending: null };
      const view = { ...createView([person, reply, person]), open: new Set([1]) };
      return [
        ready(all),
        ready({ ...all, menu }),
        ready({ ...all, approvals, sent }),
        working({ ...all, conversation: { ...arriving, turn }, approvals }),
        ready({ ...all, history: { ...historyOf([said]), search: { words: said, at: 0 } } }),
        ready({ ...all, isReady: false, status: null, sent }),
        ready({ ...all, view }),
      ][kind]!;
    });

  it("is never wider or taller than the terminal, says nothing raw, and has its cursor inside", () => {
    const size = fc.record({
      columns: fc.integer({ min: 4, max: 100 }),
      rows: fc.integer({ min: 3, max: 40 }),
    });
    fc.assert(
      fc.property(anyState, size, (state, { columns, rows }) => {
        const screen = renderScreen(state, { columns, rows }, 1000);
        expect(screen.lines.length).toBeLessThanOrEqual(rows);
        expect(Math.max(0, ...screen.lines.map(lineWidth))).toBeLessThan(columns);
        const { bytes } = planPaint({
          before: NOTHING_PAINTED,
          printed: [],
          screen,
          hasColours: true,
        });
        expect(bytes.replace(/\u001b\[[?\d;]*[A-Za-z]|\r\n?/g, "")).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
        if (screen.cursor === null) return;
        expect(screen.cursor.row).toBeLessThan(screen.lines.length);
        expect(screen.cursor.column).toBeLessThan(columns);
      }),
    );
  });
});

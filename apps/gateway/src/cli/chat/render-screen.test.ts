import { describe, expect, it } from "vitest";
import { paste, press, ready, text, typed } from "../../testing/chat-keys.ts";
import { renderScreen } from "./render-screen.ts";
import type { ChatState } from "./state.ts";

function shown(state: ChatState) {
  const { lines, cursor } = renderScreen(state, { columns: 80, rows: 24 }, 0);
  const rows = lines.map((line) => line.map((piece) => piece.text).join(""));
  return { rows, atCursor: rows[cursor!.row] };
}

const LINES = Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join("\n");

describe("the line one writes in", () => {
  it("says how many rows of a long draft are above and below those that are shown", () => {
    const { state } = typed(ready(), paste(LINES));
    expect(shown(state)).toMatchObject({ atCursor: "  line 200" });
    expect(shown(state).rows[0]).toBe("… 193 rows above");
    const up = typed(state, ...Array.from({ length: 10 }, () => press("up")));
    expect(shown(up.state)).toMatchObject({ atCursor: "  line 190" });
    expect(shown(up.state).rows[0]).toBe("… 183 rows above, 10 rows below");
  });

  it("says when no earlier message has the words that are looked for", () => {
    const { state } = typed(ready(), press("search"), text("zzz"));
    expect(shown(state).atCursor).toBe("search: zzz  (no earlier message has this)");
  });
});

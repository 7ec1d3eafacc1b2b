// Whom the watchdog lays a blocked gateway at, by the stack that it found.
import { expect, it } from "vitest";
import { type Frame, type Halted, planBlame } from "./plan-blame.ts";

const frame = (path: string | null, isOfFile = path?.startsWith("/") ?? false): Frame => ({
  ...{ functionName: "", line: 1, path, isOfFile },
});
const NODE = frame("node:internal/timers");
const OURS = frame("/opt/clew/main.js");
const TEXT = frame(null);
const GOOD = frame("/plugins/good/index.js");
const BAD = frame("/plugins/bad/index.js");

function blame(frames: Halted["frames"], context: string | null = null, called?: string) {
  const ran = ["good", "bad"];
  const found = planBlame(
    { frames, context },
    { called: called ?? null, ran },
    {
      isOurs: (path) => path.startsWith("/opt/clew/"),
      pluginAt: (path) => ran.find((id) => path.startsWith(`/plugins/${id}/`)),
    },
  );
  if (found.kind === "ours") return found.kind;
  return found.kind === "one" ? found.plugin : found.plugins.join(" or ");
}

it("a loop is that of the plugin whose code it is, whoever began it", () => {
  expect(blame([BAD, NODE], "good")).toBe("bad");
  expect(blame([GOOD, BAD, NODE], "bad", "bad")).toBe("good");
  expect(blame([TEXT, BAD, NODE])).toBe("bad");
});

it("what comes of no plugin's file is of the one in whose context it runs, or that called it", () => {
  expect(blame([NODE, OURS, BAD], "good")).toBe("good");
  expect(blame([TEXT, NODE], "bad")).toBe("bad");
  expect(blame([NODE, OURS, BAD, OURS])).toBe("bad");
  expect(blame([], null, "good")).toBe("good");
});

it("code that only says it is of a file singles out nobody", () => {
  const forged = frame("/plugins/good/index.js", false);
  expect(blame([forged, NODE], "bad")).toBe("good or bad");
  expect(blame([forged, NODE])).toBe("good or bad");
  expect(blame([forged, NODE], "good")).toBe("good");
});

it("where nothing shows who it was, all may be, unless it is our own code that works", () => {
  expect(blame([])).toBe("good or bad");
  expect(blame([NODE, NODE])).toBe("good or bad");
  expect(blame([TEXT, NODE])).toBe("good or bad");
  expect(blame([TEXT, OURS])).toBe("good or bad");
  expect(blame([NODE, OURS, NODE])).toBe("ours");
});

// What a person can do with a keyboard, and how a terminal says it.

export type Key =
  | { kind: "text"; text: string }
  /** Came at once, whatever is in it. */
  | { kind: "paste"; text: string }
  | { kind: "press"; name: KeyName };

export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "shift-tab"
  | "escape"
  | "backspace"
  | "delete"
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "word-left"
  | "word-right"
  | "cut-word"
  | "cut-next-word"
  | "cut-to-start"
  | "cut-to-end"
  | "put-back"
  | "interrupt"
  | "end-of-input"
  | "search"
  | "open"
  | "redraw"
  | "suspend"
  | "start"
  | "finish";

/** As Node's `emitKeypressEvents` tells it. */
export interface Keypress {
  text: string | undefined;
  name?: string | undefined;
  sequence?: string | undefined;
  ctrl?: boolean | undefined;
  meta?: boolean | undefined;
  shift?: boolean | undefined;
}

const PLAIN: Record<string, KeyName> = {
  ...{ return: "enter", enter: "newline", tab: "tab", escape: "escape", backspace: "backspace" },
  ...{ delete: "delete", up: "up", down: "down", left: "left", right: "right", home: "home" },
  ...{ end: "end", pageup: "page-up", pagedown: "page-down" },
};
const WITH_CTRL: Record<string, KeyName> = {
  ...{ a: "home", b: "left", c: "interrupt", d: "end-of-input", e: "end", f: "right" },
  ...{ h: "backspace", j: "newline", k: "cut-to-end", l: "redraw", n: "down", o: "open" },
  ...{ p: "up", r: "search", u: "cut-to-start", w: "cut-word", y: "put-back", z: "suspend" },
  ...{
    left: "word-left",
    right: "word-right",
    home: "start",
    end: "finish",
    backspace: "cut-word",
  },
};
const WITH_META: Record<string, KeyName> = {
  ...{ return: "newline", enter: "newline", b: "word-left", f: "word-right", d: "cut-next-word" },
  ...{ left: "word-left", right: "word-right", backspace: "cut-word" },
};
/** Of terminals that tell more than Node reads: Enter with Shift, Ctrl or Alt. */
const NEWLINE_SEQUENCES = /^\u001b\[13;\d+u$/;

const PASTE_BEGINS = "paste-start";
const PASTE_ENDS = "paste-end";

/** Undefined: it means nothing here. */
function keyOf({ text, name, sequence, ctrl, meta, shift }: Keypress): Key | undefined {
  if (sequence !== undefined && NEWLINE_SEQUENCES.test(sequence)) return press("newline");
  if (ctrl === true && name !== undefined) return press(WITH_CTRL[name]);
  if (meta === true && name !== undefined && name !== "escape") return press(WITH_META[name]);
  if (name === "tab" && shift === true) return press("shift-tab");
  // A terminal that tells more than Node knows sends no text by it.
  const isText = text !== undefined && text !== "" && !/^[\u0000-\u001f\u007f]/.test(text);
  if (name !== undefined && PLAIN[name] !== undefined && !isText) return press(PLAIN[name]);
  return isText && meta !== true ? { kind: "text", text } : undefined;
}

const press = (name: KeyName | undefined): Key | undefined => name && { kind: "press", name };

export interface KeyReader {
  /** What came of presses that arrived together, in their order. */
  take(presses: readonly Keypress[]): Key[];
}

/**
 * Pasted text is one key, whether the terminal says that it is pasted or sends it all at once: then
 * a line feed in the middle of what arrived together sends nothing.
 */
export function createKeyReader(): KeyReader {
  let isFirst = true;
  /** Of a paste that has not ended; null = there is none. */
  let pasted: string[] | null = null;
  return {
    take(presses) {
      const keys: Key[] = [];
      for (const pressed of presses) {
        if (pressed.name === PASTE_BEGINS) pasted = [];
        else if (pressed.name === PASTE_ENDS) {
          if (pasted !== null) keys.push({ kind: "paste", text: pasted.join("") });
          pasted = null;
        } else if (pasted !== null) pasted.push(pressed.text ?? pressed.sequence ?? "");
        else {
          const key = keyOf(pressed);
          if (key !== undefined) keys.push(key);
        }
      }
      const joined = joinTexts(withPlainPastes(isFirst ? asTypedBefore(keys) : keys));
      isFirst = isFirst && joined.length === 0;
      return joined;
    },
  };
}

/**
 * Of a line that was typed before there was a prompt, the terminal has made a line feed of Enter.
 * Of several lines nobody knows whether they were pasted: they wait in the draft.
 */
function asTypedBefore(keys: readonly Key[]): readonly Key[] {
  const last = keys.at(-1);
  const isLine = keys.length > 1 && keys.slice(0, -1).every(({ kind }) => kind === "text");
  const isEnded = last?.kind === "press" && last.name === "newline";
  return isLine && isEnded ? [...keys.slice(0, -1), { kind: "press", name: "enter" }] : keys;
}

/** How many lines come together that nobody has typed so fast. */
function withPlainPastes(keys: readonly Key[]): Key[] {
  const lastText = keys.findLastIndex(({ kind }) => kind === "text");
  const isLineEnd = (key: Key) =>
    key.kind === "press" && (key.name === "enter" || key.name === "newline");
  const first = keys.findIndex(isLineEnd);
  const isPaste =
    first > 0 && first < lastText && keys.every((key) => key.kind === "text" || isLineEnd(key));
  if (!isPaste) return [...keys];
  const text = keys.map((key) => (key.kind === "text" ? key.text : "\n")).join("");
  return [{ kind: "paste", text: text.replace(/\n$/, "") }];
}

function joinTexts(keys: readonly Key[]): Key[] {
  const joined: Key[] = [];
  for (const key of keys) {
    const last = joined.at(-1);
    if (key.kind === "text" && last?.kind === "text")
      joined[joined.length - 1] = { kind: "text", text: last.text + key.text };
    else joined.push(key);
  }
  return joined;
}

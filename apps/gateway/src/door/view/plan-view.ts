// Decides which part of a history goes upstream, and moves that in few and large steps.
import { type Group, type Grouped, groupsOf } from "./groups.ts";

/** "excerpt": long results keep what stands out in them · "lines": only a few lines of that. */
export type ShortForm = "excerpt" | "lines";

export interface ViewMessage extends Grouped {
  tokens: number;
  /** By what its place is found again in a later request. */
  place: string;
}

/** How far the view of a session has moved; each is the place of the last message it is true of. */
export interface ViewMarks {
  /** Results of tools up to here are elided. Absent: none is. */
  elided?: string;
  /** Of these up to here, a few lines are left. Absent: an excerpt of each is. */
  lines?: string;
  /** Calls and their results up to here are left out. Absent: none are. */
  pairs?: string;
  /** Whole turns up to here are left out. Absent: none is. */
  turns?: string;
  /** What was said up to here while a request was worked on is left out. Absent: nothing is. */
  asides?: string;
  /** The newest calls need not stay where they stand up to here. Absent: they stay. */
  answered?: string;
  /** Thinking up to here was written before the last move. Absent: nothing moved. */
  thinking?: string;
}

export interface ViewInput {
  /** Behind the leading system messages. */
  messages: readonly ViewMessage[];
  /** Tokens a message has when its long results are elided. */
  shortTokens(index: number, form: ShortForm): number;
  /** System prompt, tools and whatever else is in the body. */
  fixedTokens: number;
  /** Of the model that is asked. */
  window: number;
  /** The reply must have room for so many. */
  leastReply: number;
  /** What is said of messages that are left out takes so many; these had `leftOut` in all. */
  noteTokens(leftOut: number): number;
  /** A view that has more than the window less these and the reply's moves. Absent: 0. */
  spare?: number;
  marks: ViewMarks;
}

/** Indexes are those of the input. */
export interface ViewPlan {
  /** Results of tools before it are elided, but for those of the newest pair. */
  elidedBefore: number;
  /** Of these, before it a few lines are left. */
  linesBefore: number;
  leftOut: ReadonlySet<number>;
  /** Thinking before it is bound to a history that the model is not shown any more. */
  thinkingBefore: number;
  /** Tokens of the whole request in this view. */
  tokens: number;
  /** Tokens that are not in it. */
  setAside: number;
  /** False: it is larger than the window, whatever is left out. */
  fits: boolean;
  /** True: this request is the first one in this view. */
  moved: boolean;
  marks: ViewMarks;
}

/** Of the window: a view above the first moves, and goes below the second if it can. */
const HIGH_WATER = 0.92;
const LOW_WATER = 0.7;
/** What is left out goes below this: a call takes more room than what a note tells of it. */
const LEAVING_WATER = 0.64;
/**
 * Of what is left beside the fixed part and the first words: so much is kept of whole turns. Where
 * the fixed part is large, low water may be below all of it.
 */
const KEPT_SHARE = 0.6;

/**
 * A view stays as it is until it is above high water: what a provider has in its cache is only
 * read while the beginning stays the same. Then results of tools go first but for excerpts. Where
 * that is not enough these go but for a few lines, then pairs of calls and results, of which a
 * note tells, whole turns last, always from the oldest on; what stays in any case is what comes
 * before the first reply, the open request, and the newest pair of that. The open request is all
 * that was said in a person's name behind the last reply in words. Only where nothing else brings
 * the view below high water may the newest pair go with all behind it that is answered, and what
 * stands behind results in the open request.
 */
export function planView(input: ViewInput): ViewPlan {
  const { messages, fixedTokens, window, leastReply, spare = 0, marks } = input;
  const whole = messages.reduce((sum, { tokens }) => sum + tokens, fixedTokens);
  const most = Math.max(0, window - leastReply);
  const high = Math.min(HIGH_WATER * window, Math.max(0, most - spare));
  if (Object.keys(marks).length === 0 && whole <= high) return untouched(input, whole);
  const view = new View(input, whole);
  const moved = view.tokens > high;
  if (moved) {
    const fixed = fixedTokens + headTokens(messages);
    const low = (high * LOW_WATER) / HIGH_WATER;
    view.shrinkTo({
      ...{ low, high, leaving: (high * LEAVING_WATER) / HIGH_WATER },
      turns: Math.max(low, fixed + KEPT_SHARE * (high - fixed)),
    });
  }
  const newest = messages.at(-1)?.place;
  return {
    ...view.plan(),
    thinkingBefore: moved ? messages.length : behind(messages, marks.thinking),
    setAside: whole - view.tokens,
    fits: view.tokens <= most,
    moved,
    marks: moved ? { ...view.marks(), ...(newest !== undefined && { thinking: newest }) } : marks,
  };
}

/** Everything, as most requests are shown. */
const untouched = ({ marks }: ViewInput, tokens: number): ViewPlan => ({
  ...{ elidedBefore: 0, linesBefore: 0, leftOut: new Set<number>() },
  ...{ thinkingBefore: 0, tokens, setAside: 0, fits: true, moved: false, marks },
});

/** A view while it is being made smaller. */
class View {
  tokens: number;
  readonly #input: ViewInput;
  readonly #groups: readonly Group[];
  /** Where what stays begins: the newest pair, or the open request, once that is answered. */
  #staysFrom: number;
  /** Where the open request begins; 0: before the first reply. */
  readonly #open: number;
  /** Said in a person's name while a request was worked on. */
  readonly #asides: readonly Group[];
  /** What a person's words begin. */
  readonly #begins: readonly Group[];
  readonly #leftOut = new Set<number>();
  #leftOutTokens = 0;
  #noteTokens = 0;
  #elidedBefore = 0;
  #linesBefore = 0;
  #pairsBefore = 0;
  #turnsBefore = 0;
  #asidesBefore = 0;
  #answeredBefore: number;

  constructor(input: ViewInput, whole: number) {
    const { messages, marks } = input;
    this.tokens = whole;
    this.#input = input;
    this.#groups = groupsOf(messages);
    this.#answeredBefore = behind(messages, marks.answered);
    this.#staysFrom = Math.max(
      this.#answeredBefore,
      this.#groups.findLast(({ kind }) => kind === "pair")?.start ??
        this.#groups.at(-1)?.start ??
        messages.length,
    );
    this.#open = this.#groups.findLast(({ answers }) => answers)?.end ?? 0;
    this.#begins = this.#groups.filter(({ begins }) => begins);
    this.#asides = this.#groups.filter(
      ({ begins }, at) => begins && this.#groups[at - 1]?.answers !== true,
    );
    const elided = behind(messages, marks.elided);
    const lines = behind(messages, marks.lines);
    const pairs = behind(messages, marks.pairs);
    const turns = behind(messages, marks.turns);
    const asides = behind(messages, marks.asides);
    repeat(
      () => this.#elidedBefore < elided,
      () => this.#elideNext(),
    );
    repeat(
      () => this.#linesBefore < lines,
      () => this.#linesNext(),
    );
    repeat(
      () => this.#pairsBefore < pairs,
      () => this.#leavePairOut(),
    );
    repeat(
      () => this.#turnsBefore < turns,
      () => this.#leaveTurnOut(),
    );
    repeat(
      () => (this.#nextAside()?.end ?? messages.length + 1) <= asides,
      () => this.#leaveAsideOut(),
    );
  }

  /**
   * Shortens to `low`; where that is not enough leaves calls out to `leaving`, turns to `turns`,
   * and is below `high` at any price.
   */
  shrinkTo(water: Record<"low" | "leaving" | "turns" | "high", number>) {
    this.#shrink(water);
    if (this.tokens > water.high && this.#letNewestGo()) this.#shrink(water);
    if (this.tokens > water.high)
      repeat(
        () => this.tokens > water.turns,
        () => this.#leaveAsideOut(),
      );
  }

  #shrink({ low, leaving, turns }: Record<"low" | "leaving" | "turns", number>) {
    repeat(
      () => this.tokens > low,
      () => this.#elideNext(),
    );
    const isAbove = () => this.tokens > leaving;
    if (this.tokens > low) {
      repeat(isAbove, () => this.#linesNext());
      repeat(isAbove, () => this.#leavePairOut());
    }
    repeat(
      () => this.tokens > turns,
      () => this.#leaveTurnOut(),
    );
  }

  /** False: the open request is about the newest pair. */
  #letNewestGo(): boolean {
    if (this.#staysFrom >= this.#open) return false;
    this.#staysFrom = this.#open;
    this.#answeredBefore = this.#open;
    return true;
  }

  plan(): Pick<ViewPlan, "leftOut" | "tokens"> & ShortenedBefore {
    return {
      elidedBefore: this.#elidedBefore,
      linesBefore: this.#linesBefore,
      ...{ leftOut: this.#leftOut, tokens: this.tokens },
    };
  }

  marks(): ViewMarks {
    const placed = (name: keyof ViewMarks, before: number) => {
      const place = this.#input.messages[before - 1]?.place;
      return place === undefined ? {} : { [name]: place };
    };
    return {
      ...placed("elided", this.#elidedBefore),
      ...placed("lines", this.#linesBefore),
      ...placed("pairs", this.#pairsBefore),
      ...placed("turns", this.#turnsBefore),
      ...placed("asides", this.#asidesBefore),
      ...placed("answered", this.#answeredBefore),
    };
  }

  /** False: there is nothing left to elide; likewise below. */
  #elideNext(): boolean {
    if (this.#elidedBefore >= this.#staysFrom) return false;
    this.#shorten(this.#elidedBefore, () => this.#elidedBefore++);
    return true;
  }

  #linesNext(): boolean {
    if (this.#linesBefore >= this.#elidedBefore) return false;
    this.#shorten(this.#linesBefore, () => this.#linesBefore++);
    return true;
  }

  #shorten(index: number, step: () => void): void {
    const before = this.#tokensOf(index);
    step();
    if (!this.#leftOut.has(index)) this.tokens -= before - this.#tokensOf(index);
  }

  #leavePairOut(): boolean {
    const group = this.#groupFrom(this.#pairsBefore);
    if (group === undefined) return false;
    if (group.kind === "pair") this.#leaveOut(group);
    this.#pairsBefore = group.end;
    return true;
  }

  /** Turns behind the first: that one is what the session is about, and its end answers it. */
  #leaveTurnOut(): boolean {
    const start = Math.max(this.#turnsBefore, this.#firstTurnEnd());
    const group = this.#groupFrom(start);
    // A turn that goes on into what stays would leave its second half without the first.
    const end = this.#begins[placeFrom(this.#begins, start + 1)]?.start;
    if (group === undefined || end === undefined || end > Math.min(this.#staysFrom, this.#open))
      return false;
    const next = placeFrom(this.#groups, end);
    for (let place = placeFrom(this.#groups, group.start); place < next; place++)
      this.#leaveOut(this.#groups[place]!);
    this.#turnsBefore = end;
    return true;
  }

  #leaveAsideOut(): boolean {
    const group = this.#nextAside();
    if (group === undefined) return false;
    this.#leaveOut(group);
    this.#asidesBefore = group.end;
    return true;
  }

  #nextAside(): Group | undefined {
    return this.#before(this.#asides[placeFrom(this.#asides, this.#asidesBefore)]);
  }

  #firstTurnEnd(): number {
    return this.#begins[0]?.start ?? this.#input.messages.length;
  }

  #groupFrom(index: number): Group | undefined {
    return this.#before(this.#groups[placeFrom(this.#groups, index)]);
  }

  /** Undefined: it stays. */
  #before(group: Group | undefined): Group | undefined {
    return group !== undefined && group.end <= this.#staysFrom ? group : undefined;
  }

  #leaveOut(group: Group): void {
    for (let index = group.start; index < group.end; index++) {
      if (this.#leftOut.has(index)) continue;
      this.tokens -= this.#tokensOf(index);
      this.#leftOut.add(index);
      this.#leftOutTokens += this.#input.messages[index]!.tokens;
    }
    const before = this.#noteTokens;
    this.#noteTokens = this.#input.noteTokens(this.#leftOutTokens);
    this.tokens += this.#noteTokens - before;
  }

  /** As the view shows it now. */
  #tokensOf(index: number): number {
    const { messages, shortTokens } = this.#input;
    const [elidedBefore, linesBefore] = [this.#elidedBefore, this.#linesBefore];
    const form = shortFormAt({ elidedBefore, linesBefore }, index);
    return form === undefined ? messages[index]!.tokens : shortTokens(index, form);
  }
}

/** The place of the first group that starts at `index` or behind it, by halves. */
function placeFrom(groups: readonly Group[], index: number): number {
  let [low, high] = [0, groups.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (groups[middle]!.start < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

type ShortenedBefore = Pick<ViewPlan, "elidedBefore" | "linesBefore">;

/** Of what stands before the first reply. */
export function headTokens(messages: readonly ViewMessage[]): number {
  let sum = 0;
  for (const { speaker, tokens } of messages) {
    if (speaker === "model") break;
    sum += tokens;
  }
  return sum;
}

/** In which form long results of a message are shown; undefined: whole. */
export function shortFormAt(
  { elidedBefore, linesBefore }: ShortenedBefore,
  index: number,
): ShortForm | undefined {
  if (index < linesBefore) return "lines";
  return index < elidedBefore ? "excerpt" : undefined;
}

/** Takes steps while they are wanted and there are any. */
function repeat(isWanted: () => boolean, step: () => boolean): void {
  let taken = true;
  while (taken && isWanted()) taken = step();
}

/** The index behind the message of that place; 0 when there is none. */
const behind = (messages: readonly ViewMessage[], place: string | undefined): number =>
  place === undefined ? 0 : messages.findLastIndex((message) => message.place === place) + 1;

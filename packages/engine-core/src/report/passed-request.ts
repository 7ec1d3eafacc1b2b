// The shape in which a report tells of a request with a history of its own.

/** A request that a client sent with a history of its own. */
export interface PassedRequest {
  /** Api that both sides speak. */
  wire: string;
  /** By what its session was found; "nothing": it began one. */
  matchedBy: string;
  /** Only a "turn" moves its session on. */
  kind: "turn" | "side" | "compaction";
  /** Key of the session that started this one. Absent: none is known. */
  parent?: string;
  /** Of the client's list, without what leads it. */
  messages: {
    /** Stored now. */
    fresh: number;
    /** Stored before. */
    known: number;
    /** Of these, sent otherwise than before. */
    edited: number;
  };
  /** True: the client goes on from a summary of its own. Absent: it does not. */
  restarted?: true;
  /** Calls of the session's own tools, which no client sees. Absent: its model called none. */
  lookedUp?: number;
  /** What the model was sent of it. Absent: nothing. */
  view?: {
    /** Of the whole request. */
    tokens: number;
    /** That are not in it. */
    setAside: number;
    /** Messages that are not in it. */
    leftOut: number;
    /** True: it is the first request with this view. */
    moved: boolean;
    /** The client's limit of the reply, and what it was lowered to. Absent: it stands. */
    replyLimit?: { from: number; to: number };
  };
}

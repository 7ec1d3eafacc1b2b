// Stands in for the store of libravdb, in memory.

export interface Row {
  session: string;
  text: string;
}

export class Store {
  readonly rows: Row[] = [];

  add(row: Row): void {
    if (!this.rows.some(({ session, text }) => session === row.session && text === row.text))
      this.rows.push(row);
  }

  search(query: string): string[] {
    const words = query
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => word.length > 3);
    return this.rows
      .filter(({ text }) => words.some((word) => text.toLowerCase().includes(word)))
      .map(({ text }) => text);
  }
}

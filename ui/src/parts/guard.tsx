// A view that fails says so, and takes no other with it.

import { Component, type ComponentChildren } from "preact";

export class Guard extends Component<{ children: ComponentChildren }, { problem: string | undefined }> {
  override state = { problem: undefined };

  static override getDerivedStateFromError(error: unknown) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (this.state.problem === undefined) return this.props.children;
    return <div class="missing" role="alert"><p>This view could not be drawn: {this.state.problem}</p><p class="quiet">This is a bug in Ridgeline; the other views are not affected.</p></div>;
  }
}

/** The tip's distance from its subject and from the window's edge, in pixels. */
const DISTANCE = 10;
const MARGIN = 8;

/** The words beside the element under the pointer or with the focus. */
export class Tip {
	private readonly box: HTMLElement;
	private about: Element | null = null;

	constructor(parent: Element) {
		this.box = document.createElement("div");
		this.box.className = "tip";
		// A screen reader reads the same text from the label of the focused element.
		this.box.setAttribute("aria-hidden", "true");
		this.box.hidden = true;
		parent.append(this.box);
	}

	/** Null hides it. */
	show(about: Element | null): void {
		this.about = about;
		this.refresh();
	}

	hide(): void {
		this.show(null);
	}

	/** Its subject may have moved, changed or gone. */
	refresh(): void {
		const about = this.about;
		const words = about?.isConnected ? about.getAttribute("data-tip") : null;
		this.box.hidden = !words;
		if (!about || !words) return;
		this.box.textContent = words;
		const { left, right, top, bottom } = about.getBoundingClientRect();
		const { offsetWidth, offsetHeight, style } = this.box;
		const { clientWidth, clientHeight } = document.documentElement;
		const middle = (Math.max(0, left) + Math.min(clientWidth, right)) / 2;
		const x = Math.min(
			clientWidth - offsetWidth - MARGIN,
			Math.max(MARGIN, middle - offsetWidth / 2),
		);
		const above = Math.max(top, 0) - offsetHeight - DISTANCE;
		const below = Math.min(bottom, clientHeight) + DISTANCE;
		const y = above >= MARGIN ? above : below;
		style.left = `${x}px`;
		style.top = `${y}px`;
	}
}

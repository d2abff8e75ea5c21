// @ts-expect-error It is the fault.
import "a-package-that-nobody-has";

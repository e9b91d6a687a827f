package video

const crashDirVariable = "TRTMC_TEST_CRASH_DIR"

func crashChild(string) int { return 0 }

/* wte/all.h - every public header. See base.h for the rules on errors, ownership and threads. */
#ifndef WTE_ALL_H
#define WTE_ALL_H
#include <wte/bag.h>
#include <wte/base.h>
#include <wte/block.h>
#include <wte/check.h>
#include <wte/corpus.h>
#include <wte/dtype.h>
#include <wte/eval.h>
#include <wte/format.h>
#include <wte/grad.h>
#include <wte/gradcheck.h>
#include <wte/head.h>
#include <wte/inspect.h>
#include <wte/lm.h>
#include <wte/lookup.h>
#include <wte/model.h>
#include <wte/near.h>
#include <wte/optim.h>
#include <wte/row_source.h>
#include <wte/rowwise.h>
#include <wte/table.h>
#include <wte/vocab.h>
#include <wte/wordvec.h>
#include <wte/wte.h>
#endif

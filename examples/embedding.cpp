// C++: handles in std::unique_ptr, failures as exceptions, rows in a std::vector.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <wte/wte.h>

namespace {

struct close_model {
    void operator()(wte_model *m) const { wte_close(m); }
};

class embedding {
public:
    explicit embedding(const std::string &path) : model_(wte_open(path.c_str()))
    {
        if (!model_) throw std::runtime_error(wte_last_error());
    }

    // ids.size() x dim, row-major
    std::vector<float> operator()(const std::vector<std::int64_t> &ids) const
    {
        std::vector<float> rows(ids.size() * wte_dim(model_.get()));
        if (wte_lookup_i64(model_.get(), ids.data(), ids.size(), rows.data()) != WTE_OK)
            throw std::out_of_range(wte_last_error());
        return rows;
    }

private:
    std::unique_ptr<wte_model, close_model> model_;
};

} // namespace

int main()
{
    try {
        const embedding embed("demo");
        for (float x : embed({ 3, 1 })) std::printf("%7.4f\n", static_cast<double>(x));
        embed({ 6 }); // one past the last row
    } catch (const std::out_of_range &e) {
        std::printf("%s\n", e.what());
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "embedding: %s\n", e.what());
    }
    return 1;
}
